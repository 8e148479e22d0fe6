import { type RowLimit } from '../../search/rows/row-limit';
import { type Binder } from '../../store/binder';
import { type CompartmentQuery } from './compartment-query';

// All functions of this file return a boolean SQL expression on a row of `resource` with the alias `c`.

/** @param type the type of all rows; undefined if they have several types */
export const entryTest = ({ since, period, limit }: CompartmentQuery, type: string | undefined, bind: Binder): string =>
  [sinceTest(since, bind), periodTest(period, bind), readableTest(limit, type, bind)].join(' and ');

export function readableTest(limit: RowLimit | undefined, type: string | undefined, bind: Binder): string {
  if (limit === undefined) return 'true';
  return type === undefined ? limit.testOfAny(bind) : limit.test([type], bind);
}

export const sinceTest = (since: Date | undefined, bind: Binder): string =>
  since === undefined ? 'true' : `c.updated_at > ${bind.value(since)}::timestamptz`;

/** Tests whether the care dates of an entry overlap the period. An entry without a care date always passes. */
export function periodTest(period: CompartmentQuery['period'], bind: Binder): string {
  if (period === undefined) return 'true';
  const { momentIds, fromIds, untilIds } = period;
  const rowOf = (ids: readonly number[]): string =>
    `from search_date d where d.resource_key = c.resource_key and d.parameter_id = any(${bind.value(ids)}::integer[])`;
  const at = (milliseconds: number): string => `${bind.value(new Date(milliseconds))}::timestamptz`;
  const [start, end] = [period.start, period.end].map((edge) => (edge === undefined ? undefined : at(edge)));
  const touches = [
    ...(start === undefined ? [] : [`d.high >= ${start}`]),
    ...(end === undefined ? [] : [`d.low <= ${end}`]),
  ].join(' and ');
  return [
    `coalesce((select bool_or(${touches}) ${rowOf(momentIds)}), true)`,
    ...(end === undefined ? [] : [`coalesce((select bool_or(d.low <= ${end}) ${rowOf(fromIds)}), true)`]),
    ...(start === undefined ? [] : [`coalesce((select bool_or(d.high >= ${start}) ${rowOf(untilIds)}), true)`]),
  ].join(' and ');
}
