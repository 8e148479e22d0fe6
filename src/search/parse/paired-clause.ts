import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type NumberClause, type SearchClause } from '../query/search-query';
import { quantitiesOf } from './number-clause';
import { type SearchScope } from './search-scope';
import { tokenOf } from './token-clause';
import { alternativesOf } from './values';

/**
 * Rewrites `value-quantity=gt5` with `code=X` as `code-value-quantity=X$gt5`. Both mean the same, since an Observation
 * has one code and one value. A row of the composite holds both, so resources with the code but another value are not
 * read.
 * @returns the clause on the composite, valid only together with the other parameter; undefined if there is none
 */
export function pairedClauseOf(
  name: string,
  value: string,
  query: URLSearchParams,
  scope: SearchScope,
): SearchClause | undefined {
  const paired = pairedRowsOf(name, query, scope);
  if (paired === undefined) return undefined;
  return quantitiesOf(paired.parameterIds, paired.codeHash, name, alternativesOf(name, value));
}

/** The rows of the composite that pairs a quantity with the one code of the search. */
export function pairedRowsOf(
  name: string,
  query: URLSearchParams,
  { type, parameters, hashes }: SearchScope,
): Pick<NumberClause, 'parameterIds' | 'codeHash'> | undefined {
  if (parameters.find(type, name)?.kind !== 'quantity') return undefined;
  for (const parameter of parameters.list(type)) {
    // A parameter that was added at run time may have no rows for some values.
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

/** Whether the composite's item is the resource itself. Then the resource has one code and one value. */
const isOfWhole = ({ composite }: SearchParameter): boolean =>
  composite?.rows?.length === 1 && composite.rows.every(({ branch }) => branch.steps.length === 0);
