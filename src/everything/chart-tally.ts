import { type Snapshot } from '../platform/database/snapshots';
import { Binder } from '../resource/search/compile/binder';
import { type Portion } from './chart-plan';

/** How much there is. */
export interface Tally {
  readonly count: number;
  /** Of the stored texts. */
  readonly bytes: number;
}

export const NOTHING: Tally = { count: 0, bytes: 0 };

/** Counts a portion without reading its bodies. */
export async function tallyOf(snapshot: Snapshot, { rows }: Portion): Promise<Tally> {
  const bind = new Binder();
  const { statement, values } = bind.finish(
    `select count(*)::integer as count, coalesce(sum(bytes), 0)::bigint as bytes from (${rows(bind)}) row`,
  );
  return (await snapshot.run<{ count: number; bytes: number }>(statement, values))[0] ?? NOTHING;
}
