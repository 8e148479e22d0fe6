/**
 * The part of FHIRPath (http://hl7.org/fhirpath/N1) that search parameters are written in, as a tree:
 * paths, calls, [n], literals, `|`, `is`, `as`, `=`, `!=`, `and`, `or`.
 */
export type Expression =
  | { readonly kind: 'member'; readonly of?: Expression; readonly name: string }
  | { readonly kind: 'call'; readonly of?: Expression; readonly name: string; readonly argument?: Expression }
  | { readonly kind: 'index'; readonly of: Expression; readonly index: number }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'binary'; readonly operator: Operator; readonly left: Expression; readonly right: Expression };

export type Operator = 'or' | 'and' | '=' | '!=' | '|' | 'is' | 'as';

/** Tells why an expression cannot be used as a search parameter. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

const bindingPower: Readonly<Record<Operator, number>> = { or: 1, and: 2, '=': 3, '!=': 3, '|': 4, is: 5, as: 5 };

const tokenSyntax = /\s+|'(?:[^'\\]|\\.)*'|\d+|[A-Za-z_]\w*|%resource|!=|[()[\].|=]/y;

/** @throws ExpressionError naming the first thing that is not part of the subset */
export function parseExpression(text: string): Expression {
  const parser = new Parser(tokensOf(text));
  const expression = parser.parse(0);
  parser.expectEnd();
  return expression;
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  tokenSyntax.lastIndex = 0;
  while (tokenSyntax.lastIndex < text.length) {
    const start = tokenSyntax.lastIndex;
    const token = tokenSyntax.exec(text)?.[0];
    if (token === undefined) throw new ExpressionError(`"${text.slice(start, start + 20)}" is not understood`);
    if (token.trim() !== '') tokens.push(token);
  }
  return tokens;
}

/** Precedence climbing: an operator takes what follows as long as that binds tighter than the operator itself. */
class Parser {
  private position = 0;

  constructor(private readonly tokens: readonly string[]) {}

  parse(minimumPower: number): Expression {
    let left = this.parsePath();
    for (;;) {
      const operator = this.tokens[this.position];
      if (!isOperator(operator) || bindingPower[operator] <= minimumPower) return left;
      this.position++;
      left = { kind: 'binary', operator, left, right: this.parse(bindingPower[operator]) };
    }
  }

  expectEnd(): void {
    if (this.position < this.tokens.length) throw this.unexpected();
  }

  private parsePath(): Expression {
    let path = this.parseTerm();
    for (;;) {
      if (this.accept('.')) path = this.parseName(path);
      else if (this.accept('[')) path = this.parseIndex(path);
      else return path;
    }
  }

  private parseTerm(): Expression {
    if (this.accept('(')) return this.parseUntil(')');
    const token = this.tokens[this.position] ?? '';
    if (token.startsWith("'")) return this.literal(token.slice(1, -1).replace(/\\(.)/g, '$1'));
    if (/^\d/.test(token)) return this.literal(Number(token));
    if (token === 'true' || token === 'false') return this.literal(token === 'true');
    if (this.accept('%resource')) return { kind: 'member', name: '%resource' };
    return this.parseName(undefined);
  }

  private parseName(of: Expression | undefined): Expression {
    const name = this.tokens[this.position] ?? '';
    if (!/^[A-Za-z_]/.test(name)) throw this.unexpected();
    this.position++;
    const subject = of === undefined ? {} : { of };
    if (!this.accept('(')) return { kind: 'member', ...subject, name };
    if (this.accept(')')) return { kind: 'call', ...subject, name };
    return { kind: 'call', ...subject, name, argument: this.parseUntil(')') };
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

  private literal(value: string | number | boolean): Expression {
    this.position++;
    return { kind: 'literal', value };
  }

  private accept(token: string): boolean {
    if (this.tokens[this.position] !== token) return false;
    this.position++;
    return true;
  }

  private unexpected(): ExpressionError {
    const token = this.tokens[this.position];
    return new ExpressionError(
      token === undefined ? 'the expression ends too early' : `"${token}" is not expected there`,
    );
  }
}

function isOperator(token: string | undefined): token is Operator {
  return token !== undefined && Object.hasOwn(bindingPower, token);
}
