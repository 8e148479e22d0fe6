import { UCUM } from '../../platform/ucum/ucum';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { joined } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';
import { dotFilterOf, type DotOperator } from './dot-clause';
import { clauseOf, parameterOf, valueClauseOf } from './parameter-clause';
import { type SearchScope } from './search-scope';
import { MOMENT_CODES, SPECIAL_CODES } from './special-clause';
import { invalid } from './values';

/** Maximum number of tokens of a `_filter` expression (http://hl7.org/fhir/R4/search_filter.html). */
const MAX_TOKENS = 300;
const TOKEN = /\s*(\(|\)|"(?:[^"\\]|\\.)*"|[^\s()"]+)/y;

/** @throws ServiceError 'invalid' with the position of the error */
export function filterClauseOf(text: string, scope: SearchScope): SearchClause {
  const parser = new FilterParser(tokensOf(text), scope);
  const clause = parser.parse();
  parser.expectEnd();
  return clause;
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const start = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw notUnderstood(text.slice(start, start + 20));
    tokens.push(token);
    if (tokens.length > MAX_TOKENS) throw invalid('_filter', `takes at most ${MAX_TOKENS} words`);
  }
  return tokens;
}

class FilterParser {
  private position = 0;

  constructor(
    private readonly tokens: readonly string[],
    private readonly scope: SearchScope,
  ) {}

  /** Reads clauses joined by `and` and `or` from left to right: FHIR gives neither of them precedence. */
  parse(): SearchClause {
    let clauses = [this.term()];
    let kind: 'all' | 'any' = 'all';
    for (let next = this.conjunction(); next !== undefined; next = this.conjunction()) {
      // Clauses of the same conjunction stay in one list, so that a long list does not nest.
      if (next !== kind) clauses = [joined(kind, clauses)];
      kind = next;
      clauses.push(this.term());
    }
    return joined(kind, clauses);
  }

  expectEnd(): void {
    if (this.position < this.tokens.length) throw notUnderstood(this.tokens[this.position]);
  }

  private conjunction(): 'all' | 'any' | undefined {
    if (this.accept('and')) return 'all';
    return this.accept('or') ? 'any' : undefined;
  }

  private term(): SearchClause {
    if (this.accept('not')) return { kind: 'not', clause: this.term() };
    if (this.accept('(')) {
      const clause = this.parse();
      if (!this.accept(')')) throw notUnderstood(this.tokens[this.position]);
      return clause;
    }
    const [name, operator, value] = this.tokens.slice(this.position, this.position + 3);
    if (name === undefined || operator === undefined || value === undefined) throw notUnderstood(name);
    this.position += 3;
    return comparisonOf(name, operator, literalOf(value), this.scope);
  }

  private accept(token: string): boolean {
    if (this.tokens[this.position]?.toLowerCase() !== token) return false;
    this.position++;
    return true;
  }
}

/** The systems that a filter may name by a word (http://hl7.org/fhir/R4/search_filter.html). */
const SYSTEMS = new Map([
  ['loinc', 'http://loinc.org'],
  ['snomed', 'http://snomed.info/sct'],
  ['rxnorm', 'http://www.nlm.nih.gov/research/umls/rxnorm'],
  ['ucum', UCUM],
]);

/** Replaces the word of a system in `loinc|8480-6` or `5|ucum|mg`. */
const withSystems = (kind: string, value: string): string =>
  value.replace(kind === 'quantity' ? /(?<=^[^|]*\|)\w+(?=\|)/ : /^\w+(?=\|)/, (word) => SYSTEMS.get(word) ?? word);

const literalOf = (token: string): string =>
  token.startsWith('"') ? token.slice(1, -1).replace(/\\(.)/g, '$1') : token;

/** Escapes a value, so that its commas separate no alternatives: a filter compares single values. */
const escaped = (text: string): string => text.replace(/[\\,$]/g, '\\$&');

/** Like {@link escaped}, for a token, in which `\|` stands for the character: `|` ends its system. */
const escapedToken = (text: string): string => text.split('\\|').map(escaped).join('\\|');

function comparisonOf(path: string, operator: string, value: string, scope: SearchScope): SearchClause {
  if (path.startsWith('.')) return dotComparison(path, operator, value, scope);
  if (path.includes('.')) return chained(path, operator, value, scope);
  if (SPECIAL_CODES.has(path)) return columnComparison(path, operator, value, scope);
  const parameter = parameterOf(path, { ...scope, isLenient: false });
  if (parameter === undefined) throw notUnderstood(path);
  if (operator === 'pr') return presenceOf(parameter, value, scope);
  const { kind } = parameter;
  const named = kind === 'token' || kind === 'quantity' ? withSystems(kind, value) : value;
  const sent = kind === 'token' ? escapedToken(named) : escaped(named);
  const clause = (modifier: string | undefined, prefix = ''): SearchClause =>
    valueClauseOf(parameter, modifier, `${prefix}${sent}`, scope);
  if (operator === 'eq' || operator === 're') return clause(kind === 'string' ? 'exact' : undefined);
  if (operator === 'ne') return { kind: 'not', clause: clause(kind === 'string' ? 'exact' : undefined) };
  if (operator === 'co') return clause(kind === 'token' ? 'text' : 'contains');
  if (kind === 'string' && operator === 'sw') return clause(undefined);
  if (kind === 'string' && operator === 'ew') return clause('ends');
  if (kind === 'token' && operator === 'in') return clause('in');
  if (kind === 'token' && operator === 'ni') return clause('not-in');
  if (['date', 'number', 'quantity'].includes(kind) && ORDERING.includes(operator)) return clause(undefined, operator);
  throw unknownOperator(operator, `for "${parameter.code}"`);
}

/** The operators that are prefixes of values (http://hl7.org/fhir/R4/search.html#prefix). */
const ORDERING = ['gt', 'lt', 'ge', 'le', 'ap', 'sa', 'eb'];

function columnComparison(code: string, operator: string, value: string, scope: SearchScope): SearchClause {
  const isOrdered = MOMENT_CODES.has(code) && ['ne', ...ORDERING].includes(operator);
  if (!isOrdered && operator !== 'eq' && operator !== 'ne') throw unknownOperator(operator, `for "${code}"`);
  const clause = clauseOf(code, `${isOrdered ? operator : ''}${escaped(value)}`, scope);
  if (clause === undefined) throw notUnderstood(code);
  return operator === 'ne' && !isOrdered ? { kind: 'not', clause } : clause;
}

/** The operators of a dot expression for operators of a filter. */
const DOT_OPERATORS: Readonly<Record<string, DotOperator>> = {
  ...{ eq: 'eq', ne: 'ne', gt: 'gt', ge: 'ge', lt: 'lt', le: 'le' },
  ...{ co: 'contains', sw: 'starts', ew: 'ends', isnull: 'isnull', pr: 'isnull' },
};

function dotComparison(path: string, operator: string, value: string, scope: SearchScope): SearchClause {
  const known = Object.hasOwn(DOT_OPERATORS, operator) ? DOT_OPERATORS[operator] : undefined;
  if (known === undefined) throw unknownOperator(operator, `for "${path.slice(0, 64)}"`);
  return dotFilterOf(path, known, operator === 'pr' ? String(value !== 'true') : value, scope);
}

function presenceOf(parameter: SearchParameter, value: string, scope: SearchScope): SearchClause {
  if (value !== 'true' && value !== 'false') throw invalid('_filter', `takes "pr true" or "pr false"`);
  return valueClauseOf(parameter, 'missing', String(value === 'false'), scope);
}

/**
 * Reads a path such as `subject.name`: its last word is the compared parameter, the words before are links to it. The
 * last word is read as if it stood alone, so an operator means the same behind a chain as without one.
 */
function chained(path: string, operator: string, value: string, scope: SearchScope): SearchClause {
  const isNot = operator === 'ne';
  const readLeaf = (leaf: string, leafScope: SearchScope): SearchClause =>
    comparisonOf(leaf, isNot ? 'eq' : operator, value, leafScope);
  const clause = clauseOf(path, value, { ...scope, readLeaf }, 1);
  if (clause === undefined) throw notUnderstood(path);
  return isNot ? { kind: 'not', clause } : clause;
}

const notUnderstood = (token: string | undefined): Error =>
  invalid('_filter', token === undefined ? 'ends too early' : `has a syntax error at "${token.slice(0, 40)}"`);

const unknownOperator = (operator: string, where: string): Error =>
  invalid('_filter', `does not know the operator "${operator.slice(0, 16)}" ${where}`);
