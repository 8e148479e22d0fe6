import { parseReference } from '../../../fhir/reference';
import { plainHashOf } from '../extract/hash';
import { type Composite, type SearchParameter } from '../extract/search-parameter';
import { type SearchClause } from '../search-query';
import { quantityOf } from './number-clause';
import { quantityClauseOf } from './quantity-clause';
import { type SearchScope } from './search-scope';
import { anyOf, pairTokenOf, type ParsedToken, tokenOf } from './token-clause';
import { invalid, splitOutsideEscapes } from './values';

/** Reads a value of another parameter of the type, for composites whose parts are searched side by side. */
export type ReadPart = (code: string, value: string) => SearchClause;

/** `first$second` (http://hl7.org/fhir/R4/search.html#composite). */
export function compositeClauseOf(
  parameter: SearchParameter & { readonly composite: Composite },
  values: readonly string[],
  scope: SearchScope,
  readPart: ReadPart,
): SearchClause {
  return anyOf(values.map((value) => pairClauseOf(parameter, value, scope, readPart)));
}

function pairClauseOf(
  { code, composite, storedAs }: SearchParameter & { readonly composite: Composite },
  value: string,
  { baseUrl }: SearchScope,
  readPart: ReadPart,
): SearchClause {
  const [first, second, ...rest] = splitOutsideEscapes(value, '$');
  if (first === undefined || second === undefined || first === '' || second === '' || rest.length > 0)
    throw invalid(code, 'takes two values with "$" between them');
  const [firstCode, secondCode] = composite.codes;
  if (composite.rows === undefined)
    return { kind: 'all', clauses: [readPart(firstCode.code, first), readPart(secondCode.code, second)] };
  const key: ParsedToken =
    firstCode.kind === 'reference' ? { code: keyOf(code, first, baseUrl) } : tokenOf(code, first);
  if (key.code === '') throw invalid(code, 'needs a code before "$"');
  const pair =
    secondCode.kind === 'quantity'
      ? quantityClauseOf(storedAs, plainHashOf(key.code), [quantityOf(code, second)])
      : { kind: 'token' as const, tokens: storedAs.map((id) => pairTokenOf(id, key.code, tokenOf(code, second))) };
  // The pair's row knows the code without its system, which the part's own parameter tells.
  return key.system === undefined ? pair : { kind: 'all', clauses: [pair, readPart(firstCode.code, first)] };
}

function keyOf(name: string, text: string, baseUrl: string): string {
  const target = parseReference(text, baseUrl);
  if (target === undefined || target.kind === 'contained') throw invalid(name, 'takes a reference before "$"');
  return target.key;
}
