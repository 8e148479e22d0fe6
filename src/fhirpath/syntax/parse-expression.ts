import { BINDING_POWER, type Expression, ExpressionError, type Operator, placed, typeNameOf } from './expression';
import { type Token, tokenize } from './tokens';

/** Maximum number of nested brackets, and of operators or steps in a row. The compiler recurses for each of them. */
const MAX_DEPTH = 250;

const RESERVED: ReadonlySet<string> = new Set(['and', 'or', 'xor', 'implies', 'div', 'mod']);
const UNITS = /^(year|month|week|day|hour|minute|second|millisecond)s?$/;

/** A sign binds tighter than any operator, and less tightly than `.` and `[]`. */
const SIGN_POWER = 11;

/** @throws ExpressionError at the first invalid token, with its line and column */
export function parseExpression(text: string): Expression {
  const parser = new Parser(tokenize(text));
  const expression = parser.parse(0);
  parser.expectEnd();
  return expression;
}

/**
 * Parses by precedence climbing: an operator takes the expression that follows it, as far as this expression binds
 * tighter than the operator.
 */
class Parser {
  private position = 0;
  private depth = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  parse(minimumPower: number): Expression {
    const depth = this.depth;
    this.descend();
    let left = this.parseSigned();
    for (;;) {
      const { place } = this.token;
      const operator = this.operator();
      if (operator === undefined || BINDING_POWER[operator] <= minimumPower) break;
      this.position++;
      this.descend();
      const isOfType = operator === 'is' || operator === 'as';
      const right = isOfType ? this.parsePath() : this.parse(BINDING_POWER[operator]);
      if (isOfType) typeNameOf(right);
      left = placed({ kind: 'binary', operator, left, right }, place);
    }
    this.depth = depth;
    return left;
  }

  expectEnd(): void {
    if (this.token.kind !== 'end') throw this.unexpected();
  }

  private get token(): Token {
    const token = this.tokens[this.position] ?? this.tokens.at(-1);
    if (token === undefined) throw new Error('the last token is always "end"');
    return token;
  }

  private operator(): Operator | undefined {
    const { kind, text, isDelimited } = this.token;
    return (kind === 'symbol' || (kind === 'name' && !isDelimited)) && isOperator(text) ? text : undefined;
  }

  private parseSigned(): Expression {
    const { place } = this.token;
    const isNegative = this.accept('-');
    if (!isNegative && !this.accept('+')) return this.parsePath();
    const operand = this.parse(SIGN_POWER);
    if (operand.kind === 'literal' && typeof operand.value === 'number')
      return placed({ ...operand, value: isNegative ? -operand.value : operand.value }, place);
    return placed({ kind: 'foreign', what: 'a sign', parts: [operand] }, place);
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
    const { kind, text, isDelimited, place } = this.token;
    if (this.accept('(')) return this.parseUntil(')');
    if (this.accept('$this')) return placed({ kind: 'this' }, place);
    if (this.accept('$index') || this.accept('$total'))
      return placed({ kind: 'foreign', what: text, parts: [] }, place);
    if (this.accept('{')) {
      if (!this.accept('}')) throw this.unexpected();
      return placed({ kind: 'empty' }, place);
    }
    switch (kind) {
      case 'string':
        return this.taken({ kind: 'literal', value: text });
      case 'number':
        return this.parseNumber();
      case 'time':
        return this.taken({ kind: 'foreign', what: 'a date or time', parts: [] });
      case 'variable':
        return this.taken({ kind: 'variable', name: text });
      case 'name':
        if (!isDelimited && (text === 'true' || text === 'false'))
          return this.taken({ kind: 'literal', value: text === 'true' });
        return this.parseName(undefined);
      case 'symbol':
      case 'end':
        throw this.unexpected();
    }
  }

  /** Parses a number, or a quantity such as `4 'kg'` or `3 days`. */
  private parseNumber(): Expression {
    const { text, place } = this.token;
    const isDecimal = text.includes('.');
    const number = this.taken({ kind: 'literal', value: Number(text), ...(isDecimal ? { isDecimal } : {}) });
    const { kind, text: unit } = this.token;
    if (kind !== 'string' && (kind !== 'name' || !UNITS.test(unit))) return number;
    this.position++;
    return placed({ kind: 'foreign', what: 'a quantity', parts: [] }, place);
  }

  private parseName(of: Expression | undefined): Expression {
    const { kind, text: name, isDelimited, place } = this.token;
    if (kind !== 'name' || (!isDelimited && RESERVED.has(name))) throw this.unexpected();
    this.position++;
    const subject = of === undefined ? {} : { of };
    if (!this.accept('(')) return placed({ kind: 'member', ...subject, name }, place);
    const given: Expression[] = [];
    if (!this.accept(')')) {
      do given.push(this.parse(0));
      while (this.accept(','));
      if (!this.accept(')')) throw this.unexpected();
    }
    return placed({ kind: 'call', ...subject, name, arguments: given }, place);
  }

  private parseIndex(of: Expression): Expression {
    const { place } = this.token;
    const index = this.parseUntil(']');
    if (index.kind === 'literal' && typeof index.value === 'number' && index.value >= 0 && index.isDecimal !== true)
      return placed({ kind: 'index', of, index: index.value }, place);
    return placed({ kind: 'foreign', what: 'a computed index', parts: [of, index] }, place);
  }

  private parseUntil(end: string): Expression {
    const expression = this.parse(0);
    if (!this.accept(end)) throw this.unexpected();
    return expression;
  }

  private taken(expression: Expression): Expression {
    const { place } = this.token;
    this.position++;
    return placed(expression, place);
  }

  private accept(symbol: string): boolean {
    const { kind, text } = this.token;
    if (kind !== 'symbol' || text !== symbol) return false;
    this.position++;
    return true;
  }

  private descend(): void {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new ExpressionError('the expression is nested too deep', this.token.place);
  }

  private unexpected(): ExpressionError {
    const { kind, text, place } = this.token;
    return new ExpressionError(
      kind === 'end' ? 'the expression ends too early' : `"${text.slice(0, 64)}" is not expected there`,
      place,
    );
  }
}

function isOperator(text: string): text is Operator {
  return Object.hasOwn(BINDING_POWER, text);
}
