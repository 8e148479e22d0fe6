import { type NumberRange, type QuantityClause, type SearchClause, type UnitKey } from '../query/search-query';
import { type ParsedQuantity } from './number-clause';

/** Numbers without a unit are ranges of whatever unit; units wait for the dictionary of those that are stored. */
export function quantityClauseOf(
  parameterIds: readonly number[],
  codeHash: number,
  quantities: readonly ParsedQuantity[],
): SearchClause {
  const plain = quantities.filter(({ unit }) => unit === undefined).flatMap(({ ranges }) => ranges);
  const inUnits = quantities.filter((one): one is ParsedQuantity & { unit: UnitKey } => one.unit !== undefined);
  const clauses = [...plainClauses(parameterIds, codeHash, plain), ...unitClauses(parameterIds, codeHash, inUnits)];
  const [only] = clauses;
  return only !== undefined && clauses.length === 1 ? only : { kind: 'any', clauses };
}

const plainClauses = (
  parameterIds: readonly number[],
  codeHash: number,
  ranges: readonly NumberRange[],
): SearchClause[] => (ranges.length === 0 ? [] : [{ kind: 'number', parameterIds, codeHash, ranges }]);

const unitClauses = (
  parameterIds: readonly number[],
  codeHash: number,
  quantities: QuantityClause['quantities'],
): SearchClause[] => (quantities.length === 0 ? [] : [{ kind: 'quantity', parameterIds, codeHash, quantities }]);
