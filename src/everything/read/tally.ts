import { type Snapshot } from '../../platform/database/snapshots';
import { Binder } from '../../store/binder';
import { type CompartmentQuery } from '../plan/compartment-query';
import { periodTest, sinceTest } from '../plan/entry-tests';
import { type QueryPart } from '../plan/query-parts';

export interface Tally {
  readonly all: number;
  /** How many of all entries were changed after `_since`. */
  readonly recent: number;
  /** How many of the recent entries have care dates that overlap the period, and the bytes of their stored texts. */
  readonly count: number;
  readonly bytes: number;
}

/** Counts the entries of a query part, before and after the filters of the query, without reading bodies. */
export async function tallyOf(
  snapshot: Snapshot,
  { rows }: QueryPart,
  { since, period }: Partial<Pick<CompartmentQuery, 'since' | 'period'>> = {},
): Promise<Tally> {
  const bind = new Binder();
  const isRecent = sinceTest(since, bind);
  const { statement, values } = bind.finish(
    `select count(*)::integer as all, count(*) filter (where is_recent)::integer as recent,
      count(*) filter (where is_kept)::integer as count, coalesce(sum(bytes) filter (where is_kept), 0)::bigint as bytes
    from (select c.bytes, ${isRecent} as is_recent, ${isRecent} and ${periodTest(period, bind)} as is_kept from (${rows(bind)}) c) r`,
  );
  const [tally] = await snapshot.run<Tally>(statement, values);
  return tally ?? { all: 0, recent: 0, count: 0, bytes: 0 };
}
