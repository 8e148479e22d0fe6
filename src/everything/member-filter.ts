import { type RowLimit } from '../resource/rows/row-limit';
import { type Binder } from '../resource/search/compile/binder';
import { type CareDateIds } from './care-dates';

/** A stretch of time in epoch milliseconds, both ends included; open where one is absent. */
export interface CarePeriod {
  readonly start?: number;
  readonly end?: number;
}

/** What a member has to be besides belonging to the compartment. */
export interface MemberFilter {
  /** Its care dates must touch the period. */
  readonly period: (CarePeriod & CareDateIds) | undefined;
  /** What the caller may see; everything when absent. */
  readonly limit: RowLimit | undefined;
}

/** SQL on alias `c`, a row of `resource` of one of `types` or, without them, of any: whether the caller may see it. */
export function seenTest({ limit }: MemberFilter, types: readonly string[] | undefined, bind: Binder): string {
  if (limit === undefined) return 'true';
  return types === undefined ? limit.testOfAny(bind) : limit.test(types, bind);
}

/**
 * SQL on alias `c`: whether its care dates touch the period. What has no care date is never left out for it.
 */
export function periodTest({ period }: MemberFilter, bind: Binder): string {
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
