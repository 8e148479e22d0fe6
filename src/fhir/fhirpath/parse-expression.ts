import { BINDING_POWER, type Expression, ExpressionError, type Operator } from './expression';
import { type Token, tokensOf } from './tokens';

/** Brackets inside of brackets, and operators or steps in a row: the compilers descend once for each. */
const MAX_DEPTH = 250;

const RESERVED: ReadonlySet<string> = new Set(['and', 'or', 'xor', 'implies', 'div', 'mod']);

const END: Token = { kind: 'end', text: '', isDelimited: false };

/** @throws ExpressionError naming the first thing that is no FHIRPath, or that is not part of {@link Expression} */
export function parseExpression(text: string): Expression {
  const parser = new Parser(tokensOf(text));
  const expression = parser.parse(0);
  parser.expectEnd();
  return expression;
}

/** Precedence climbing: an operator takes what follows as long as that binds tighter than the operator itself. */
class Parser {
  private position = 0;
  private depth = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  parse(minimumPower: number): Expression {
    const depth = this.depth;
    this.descend();
    let left = this.parsePath();
    for (;;) {
      const operator = this.operator();
      if (operator === undefined || BINDING_POWER[operator] <= minimumPower) break;
      this.position++;
      this.descend();
      const right = operator === 'is' || operator === 'as' ? this.parsePath() : this.parse(BINDING_POWER[operator]);
      left = { kind: 'binary', operator, left, right };
    }
    this.depth = depth;
    return left;
  }

  expectEnd(): void {
    if (this.position < this.tokens.length) throw this.unexpected();
  }

  private get token(): Token {
    return this.tokens[this.position] ?? END;
  }

  private operator(): Operator | undefined {
    const { kind, text, isDelimited } = this.token;
    return (kind === 'symbol' || (kind === 'name' && !isDelimited)) && isOperator(text) ? text : undefined;
  }

  private parsePath(): Expression {
    let path = this.parseTerm();
    for (;;) {
      if (this.accept('.')) path = this.parseName(path);
      else if (this.accept('[')) path = this.parseIndex(path);
      else return path;
      this.descend();
    }
  }

  private parseTerm(): Expression {
    if (this.accept('(')) return this.parseUntil(')');
    if (this.accept('$this')) return { kind: 'this' };
    if (this.accept('{')) {
      if (!this.accept('}')) throw this.unexpected();
      return { kind: 'empty' };
    }
    const { kind, text, isDelimited } = this.token;
    switch (kind) {
      case 'string':
        return this.taken({ kind: 'literal', value: text });
      case 'number':
        return this.taken({ kind: 'literal', value: Number(text) });
      case 'variable':
        return this.taken({ kind: 'variable', name: text });
      case 'name':
        if (!isDelimited && RESERVED.has(text)) throw this.unexpected();
        if (!isDelimited && (text === 'true' || text === 'false'))
          return this.taken({ kind: 'literal', value: text === 'true' });
        return this.parseName(undefined);
      case 'symbol':
      case 'end':
        throw this.unexpected();
    }
  }

  private parseName(of: Expression | undefined): Expression {
    const { kind, text: name } = this.token;
    if (kind !== 'name') throw this.unexpected();
    this.position++;
    const subject = of === undefined ? {} : { of };
    if (!this.accept('(')) return { kind: 'member', ...subject, name };
    const given: Expression[] = [];
    if (!this.accept(')')) {
      do given.push(this.parse(0));
      while (this.accept(','));
      if (!this.accept(')')) throw this.unexpected();
    }
    return { kind: 'call', ...subject, name, arguments: given };
  }

  private parseIndex(of: Expression): Expression {
    const index = this.parseUntil(']');
    if (index.kind !== 'literal' || typeof index.value !== 'number') throw new ExpressionError('an index is a number');
    return { kind: 'index', of, index: index.value };
  }

  private parseUntil(end: string): Expression {
    const expression = this.parse(0);
    if (!this.accept(end)) throw this.unexpected();
    return expression;
  }

  private taken(expression: Expression): Expression {
    this.position++;
    return expression;
  }

  private accept(symbol: string): boolean {
    const { kind, text } = this.token;
    if (kind !== 'symbol' || text !== symbol) return false;
    this.position++;
    return true;
  }

  private descend(): void {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new ExpressionError('the expression is nested too deep');
  }

  private unexpected(): ExpressionError {
    const { kind, text } = this.token;
    return new ExpressionError(kind === 'end' ? 'the expression ends too early' : `"${text}" is not expected there`);
  }
}

function isOperator(text: string): text is Operator {
  return Object.hasOwn(BINDING_POWER, text);
}
