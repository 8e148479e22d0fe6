import { type NumberPaths } from '../../search-index/extract/search-parameter';
import { type NumberRange } from '../query/search-query';

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
