import { parseReference } from '../../fhir/reference';
import { keyWithSystem } from '../../search-index/extract/composite-rows';
import {
  type ComponentCode,
  type Composite,
  type NumberPaths,
  type SearchParameter,
} from '../../search-index/extract/search-parameter';
import { joined } from '../query/nested-clauses';
import { type NumberRange, type SearchClause } from '../query/search-query';
import { type ParsedToken, withoutImplied } from './implied-system';
import { numberRangesOf, quantitiesOf } from './number-clause';
import { type SearchScope, type SentParameter } from './search-scope';
import { anyOf, pairTokenOf, tokenOf } from './token-clause';
import { assertFew, assertNoModifier, invalid, splitOutsideEscapes } from './values';

/** Reads a value of another parameter of the type, for composites whose components are searched independently. */
type ReadPart = (code: string, value: string) => SearchClause;

type CompositeParameter = SearchParameter & { readonly composite: Composite };

/** Reads `first$second` or `first$second$third` (http://hl7.org/fhir/R4/search.html#composite). */
export function compositeClauseOf(
  { parameter, modifier, name, values }: SentParameter,
  scope: SearchScope,
  readPart: ReadPart,
): SearchClause {
  assertNoModifier(name, modifier, []);
  const { code, composite } = parameter;
  if (composite === undefined) throw invalid(code, 'is not supported');
  if (composite.rows === undefined || composite.third !== undefined) assertFew(code, values);
  return anyOf(values.map((value) => pairClauseOf({ ...parameter, composite }, value, scope, readPart)));
}

function pairClauseOf(
  parameter: CompositeParameter,
  value: string,
  scope: SearchScope,
  readPart: ReadPart,
): SearchClause {
  const { code, composite } = parameter;
  const [first = '', second = '', third, ...rest] = splitOutsideEscapes(value, '$');
  const isWhole = (third !== undefined) === (composite.third !== undefined) && rest.length === 0;
  if (!isWhole || first === '' || second === '' || third === '')
    throw invalid(code, `takes ${composite.third === undefined ? 'two' : 'three'} values with "$" between them`);
  const [firstCode, secondCode] = composite.codes;
  if (composite.rows === undefined)
    return { kind: 'all', clauses: [readPart(firstCode.code, first), readPart(secondCode.code, second)] };
  const key = keyOf(code, first, firstCode, scope);
  if (key.code === '') throw invalid(code, 'needs a code before "$"');
  const { system } = key;
  const isInRow = system !== undefined && composite.hasSystem === true;
  const clauses = [
    rowClauseOf(parameter, isInRow ? keyWithSystem(system, key.code) : key.code, second, scope),
    // The rows of a triple hold two of its components; only the body shows which numbers belong to the same item.
    ...(third === undefined ? [] : [itemClauseOf(parameter, second, third)]),
    // The rows of HL7's composites hold the code without its system, so the parameter of the code tests the system.
    ...(system === undefined || isInRow ? [] : [readPart(firstCode.code, first)]),
  ];
  return joined('all', clauses);
}

function rowClauseOf(
  { code, composite, storedAs }: CompositeParameter,
  key: string,
  second: string,
  scope: SearchScope,
): SearchClause {
  const { hashes } = scope;
  switch (composite.codes[1].kind) {
    case 'quantity':
      return quantitiesOf(storedAs, hashes.ofText(key), code, [second]);
    case 'number':
      return {
        kind: 'number',
        parameterIds: storedAs,
        codeHash: hashes.ofText(key),
        ranges: numberRangesOf(code, second),
      };
    default: {
      const value = keyOf(code, second, composite.codes[1], scope);
      if (value.code === '') throw invalid(code, 'needs a code after "$"');
      return { kind: 'token', tokens: storedAs.map((id) => pairTokenOf(id, key, value, hashes)) };
    }
  }
}

function itemClauseOf({ code, composite }: CompositeParameter, second: string, third: string): SearchClause {
  const [seconds, thirds] = [numberRangesOf(code, second), numberRangesOf(code, third)];
  const items = (composite.rows ?? []).flatMap(({ numberPaths }) => numberPaths ?? []);
  return { kind: 'body', paths: items.map((paths) => itemPathOf(paths, seconds, thirds)) };
}

/** JSON path of PostgreSQL that finds the items whose two elements both hold a matching number. */
export function itemPathOf(
  { item, second, third }: NumberPaths,
  seconds: readonly NumberRange[],
  thirds: readonly NumberRange[],
): string {
  return `${item} ? (${rangeConditionOf(second, seconds)} && ${rangeConditionOf(third, thirds)})`;
}

const rangeConditionOf = (paths: readonly string[], ranges: readonly NumberRange[]): string =>
  `(${paths.flatMap((path) => ranges.map((range) => `(${limitsOf(path, range)})`)).join(' || ')})`;

function limitsOf(path: string, { low, high, isLowOpen, isHighOpen }: NumberRange): string {
  return [
    ...(low === -Infinity ? [] : [`${path} ${isLowOpen ? '>' : '>='} ${low}`]),
    ...(high === Infinity ? [] : [`${path} ${isHighOpen ? '<' : '<='} ${high}`]),
  ].join(' && ');
}

/** Reads the value of a component that is a token or a reference. */
function keyOf(
  name: string,
  text: string,
  part: ComponentCode,
  { type, parameters, baseUrl }: SearchScope,
): ParsedToken {
  if (part.kind !== 'reference') {
    const parameter = parameters.find(type, part.code);
    return parameter === undefined ? tokenOf(name, text) : withoutImplied(parameter, tokenOf(name, text));
  }
  const target = parseReference(text, baseUrl);
  if (target === undefined || target.kind === 'contained') throw invalid(name, 'takes a reference as Type/id or URL');
  return { code: target.key };
}
