import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchClause } from '../query/search-query';
import { quantityClauseOf, quantityOf } from './number-clause';
import { type SearchScope } from './search-scope';
import { tokenOf } from './token-clause';
import { alternativesOf } from './values';

/**
 * `value-quantity=gt5` with `code=X` means `code-value-quantity=X$gt5`, since an Observation has one code and one
 * value. The composite's rows hold both, so not every resource with the code needs a test.
 * @returns the equivalent clause, valid beside the other parameter; undefined if there is none
 */
export function pairedClauseOf(
  name: string,
  value: string,
  query: URLSearchParams,
  scope: SearchScope,
): SearchClause | undefined {
  const paired = pairedRowsOf(name, query, scope);
  if (paired === undefined) return undefined;
  const quantities = alternativesOf(name, value).map((text) => quantityOf(name, text));
  return quantityClauseOf(paired.parameterIds, paired.codeHash, quantities);
}

/** Rows of a quantity and a code. */
export interface PairedRows {
  readonly parameterIds: readonly number[];
  readonly codeHash: number;
}

/** The rows of the composite that pairs a quantity with the one code of the search. */
export function pairedRowsOf(
  name: string,
  query: URLSearchParams,
  { type, parameters, hashes }: SearchScope,
): PairedRows | undefined {
  if (parameters.find(type, name)?.kind !== 'quantity') return undefined;
  for (const parameter of parameters.list(type)) {
    // The rows of a parameter added at run time may lack some values.
    if (parameter.isLive || parameters.isUnfinished(parameter)) continue;
    const [first, second] = parameter.composite?.codes ?? [];
    if (first?.kind !== 'token' || second?.code !== name || !isOfWhole(parameter)) continue;
    const [token, ...others] = query.getAll(first.code).flatMap((text) => alternativesOf(first.code, text));
    const code = token === undefined || others.length > 0 ? '' : tokenOf(first.code, token).code;
    if (code === '') continue;
    return { parameterIds: parameter.storedAs, codeHash: hashes.ofText(code) };
  }
  return undefined;
}

/** Whether the item is the resource itself, which then has both values once. */
const isOfWhole = ({ composite }: SearchParameter): boolean =>
  composite?.rows?.length === 1 && composite.rows.every(({ branch }) => branch.steps.length === 0);
