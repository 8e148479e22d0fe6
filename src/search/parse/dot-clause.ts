import { isPrimitiveType, isSubtype } from '../../fhir/definitions/definitions';
import { type PathOperator, type PathTest, type SearchClause, type SortKey } from '../query/search-query';
import { dateBoxesOf } from './date-clause';
import { dotPathOf } from './dot-path';
import { hintOf } from './json-path';
import { type SearchScope } from './search-scope';
import { alternativesOf, assertFew, invalid, unescaped } from './values';

type Kind = 'text' | 'number' | 'date' | 'boolean';

/** The kind of comparison for the types that a dot expression may name, which are those of PostgreSQL and of FHIR. */
const CASTS: Readonly<Record<string, Kind>> = {
  ...{ text: 'text', string: 'text', varchar: 'text', boolean: 'boolean', bool: 'boolean' },
  ...{ integer: 'number', int: 'number', bigint: 'number', numeric: 'number', decimal: 'number', float: 'number' },
  ...{ date: 'date', dateTime: 'date', datetime: 'date', instant: 'date', timestamp: 'date', timestamptz: 'date' },
};

const OPERATORS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'contains', 'starts', 'ends', 'exact', 'isnull'] as const;
export type DotOperator = (typeof OPERATORS)[number];

const NUMBER = /^[+-]?\d{1,100}(\.\d{1,100})?([eE][+-]?\d{1,3})?$/;
const LONGEST_TEXT = 1_024;

interface DotName {
  readonly path: string;
  readonly cast: string | undefined;
  readonly operator: DotOperator;
}

/**
 * Reads `.path.0.to::type$operator=value`: it compares an element of the stored text, whether or not a search parameter
 * covers the element.
 */
export function dotClauseOf(name: string, value: string, scope: SearchScope): SearchClause {
  const { path, cast, operator } = dotNameOf(name);
  return comparisonOf({ name, path, cast, operator, values: alternativesOf(name, value).map(unescaped) }, scope);
}

/** Reads `.path eq value`, a comparison in `_filter`. */
export function dotFilterOf(path: string, operator: DotOperator, value: string, scope: SearchScope): SearchClause {
  if (path.includes('$')) throw invalid(path, 'takes its operator as a separate word in _filter');
  return comparisonOf({ ...dotNameOf(path), name: path, operator, values: [value] }, scope);
}

/** Reads a dot expression in `_sort`, such as `_sort=-.birthDate`. */
export function dotSortOf(text: string, scope: SearchScope): SortKey['by'] {
  const { path, cast, operator } = dotNameOf(text);
  if (operator !== 'eq') throw invalid('_sort', 'takes a path without an operator');
  const { jsonPath, type } = dotPathOf(path, scope.type, '_sort');
  assertScalar('_sort', type);
  const kind = kindOf(text, cast) ?? (type === undefined ? undefined : kindOfType(type));
  return { kind: 'path', paths: [jsonPath], as: kind === 'number' || kind === 'date' ? kind : 'text' };
}

function dotNameOf(name: string): DotName {
  const [, path = '', cast, operator = 'eq'] = /^([^:$]*)(?:::([^:$]*))?(?:\$([^$]*))?$/.exec(name) ?? [];
  if (path === '') throw invalid(name, 'must read .path::type$operator');
  const known = OPERATORS.find((one) => one === operator);
  if (known === undefined)
    throw invalid(name, `has an operator that is not known; known: ${OPERATORS.map((one) => `$${one}`).join(', ')}`);
  return { path, cast, operator: known };
}

interface Comparison extends DotName {
  readonly name: string;
  readonly values: readonly string[];
}

function comparisonOf({ name, path, cast, operator, values }: Comparison, scope: SearchScope): SearchClause {
  const { jsonPath, type } = dotPathOf(path, scope.type, name);
  const clause = (test: PathTest, hint: object = {}): SearchClause => ({ kind: 'path', path: jsonPath, test, ...hint });
  if (operator === 'isnull') return isNull(name, values, clause({ kind: 'exists' }));
  assertScalar(name, type);
  if (values.some((text) => text.length > LONGEST_TEXT))
    throw invalid(name, `takes values of up to ${LONGEST_TEXT} characters`);
  const kind = kindOf(name, cast);
  if (kind !== undefined || (operator !== 'eq' && operator !== 'ne')) assertFew(name, values);
  switch (operator) {
    case 'contains':
    case 'starts':
    case 'ends':
      return clause({ kind: 'like', match: operator, texts: values }, hintOfOne(values));
    case 'exact':
      return clause({ kind: 'text', operator: 'eq', texts: values });
    case 'ne':
      return { kind: 'not', clause: clause(testOf(name, kind, 'eq', values, scope)) };
    case 'eq':
      return clause(testOf(name, kind, 'eq', values, scope), kind === undefined ? hintOfOne(values) : {});
    default:
      return clause(testOf(name, kind ?? orderedKindOf(type, values), operator, values, scope));
  }
}

function isNull(name: string, [value]: readonly string[], exists: SearchClause): SearchClause {
  if (value === 'false') return exists;
  if (value === 'true') return { kind: 'not', clause: exists };
  throw invalid(name, 'is true or false');
}

function testOf(
  name: string,
  kind: Kind | undefined,
  operator: PathOperator,
  texts: readonly string[],
  { now = Date.now() }: SearchScope,
): PathTest {
  switch (kind) {
    case 'number':
      return { kind: 'number', operator, numbers: texts.map((text) => numberOf(name, text)) };
    case 'date': {
      const prefix = operator === 'eq' ? '' : operator;
      return { kind: 'date', boxes: texts.flatMap((text) => dateBoxesOf(name, `${prefix}${text}`, now)) };
    }
    case 'text':
    case 'boolean':
      return { kind: 'text', operator, texts };
    case undefined:
      // The element's type is unknown, so its values are compared as text, as boolean, and as number by value (1.10 is
      // 1.1).
      return { kind: 'value', texts, numbers: texts.filter((text) => NUMBER.test(text)) };
  }
}

function numberOf(name: string, text: string): string {
  if (!NUMBER.test(text)) throw invalid(name, 'takes a number such as 5.4');
  return text;
}

function kindOf(name: string, cast: string | undefined): Kind | undefined {
  if (cast === undefined) return undefined;
  if (Object.hasOwn(CASTS, cast)) return CASTS[cast];
  throw invalid(name, `has a type that is not known; known: ${Object.keys(CASTS).join(', ')}`);
}

/**
 * The kind of an ordered comparison. If no definition gives the element's type, the form of the requested values
 * decides.
 */
const orderedKindOf = (type: string | undefined, values: readonly string[]): Kind =>
  type === undefined ? (values.every((text) => NUMBER.test(text)) ? 'number' : 'text') : (kindOfType(type) ?? 'text');

function kindOfType(type: string): Kind | undefined {
  if (isSubtype(type, 'decimal') || isSubtype(type, 'integer')) return 'number';
  return ['date', 'dateTime', 'instant'].includes(type) ? 'date' : undefined;
}

function assertScalar(name: string, type: string | undefined): void {
  if (type !== undefined && !isPrimitiveType(type)) throw invalid(name, `ends at a ${type}: name one of its elements`);
}

/**
 * A text that each matching body contains, if only one text is requested. A number has several spellings, so it gives
 * none.
 */
const hintOfOne = (texts: readonly string[]): object => {
  const [only, ...others] = texts;
  return only === undefined || others.length > 0 || /^[-+.\deE]*$/.test(only) ? {} : hintOf(only);
};
