import { describe, expect, it } from '@jest/globals';
import { type Exploration, explore, textOf } from '../../test/support/model/explore';
import { oldMarkRaising } from '../../test/support/model/old-mark-raising';
import { type MarkVariant, markRaising } from '../../test/support/model/mark-raising';
import { type QueueVariant, queueModel } from '../../test/support/model/queue-model';

const QUEUE: QueueVariant = { writers: 3, takesFirst: 'id', claimsAbove: 'mark', snapshots: 1 };
const MARK: MarkVariant = {
  raisers: 2,
  runs: 3,
  notes: 'its own id',
  takesId: 'after the last number',
  waits: true,
};
/** A model with two writers instead of three. Two are enough to find each defect, and have fewer states to explore. */
const TWO_WRITERS = { writers: 2 };

const withMark = (queue: Partial<QueueVariant>, mark: Partial<MarkVariant>): Exploration =>
  explore(queueModel({ ...QUEUE, ...queue }, markRaising({ ...MARK, ...mark })));

const withOldMark = (polls: number): Exploration =>
  explore(queueModel({ ...QUEUE, ...TWO_WRITERS }, oldMarkRaising(polls, 6)));

describe('The low-water mark of the queue', () => {
  it('D1: never passes an unclaimed event, in any interleaving of writers, raisers and claims', () => {
    expect(withMark({}, {}).path).toBeUndefined();
    const { states, path } = withMark(TWO_WRITERS, { runs: 4 });
    expect(path).toBeUndefined();
    expect(states).toBeGreaterThan(5000);
  });

  it.each<readonly [string, () => Exploration]>([
    ['pg_snapshot_xmax is noted', () => withMark(TWO_WRITERS, { notes: 'pg_snapshot_xmax' })],
    ['the noted id is taken too early', () => withMark(TWO_WRITERS, { takesId: 'before the last number' })],
    ['the raiser does not wait for the transactions below the noted id', () => withMark(TWO_WRITERS, { waits: false })],
    ['a writer takes its number before its id', () => withMark({ ...TWO_WRITERS, takesFirst: 'number' }, {})],
    ['claims use a cursor instead of the stored mark', () => withMark({ ...TWO_WRITERS, claimsAbove: 'cursor' }, {})],
    ['the number comes from a later snapshot than the events', () => withMark({ ...TWO_WRITERS, snapshots: 2 }, {})],
    ['the polls of one process overlap and share its memory (0.1.0)', () => withOldMark(2)],
  ])('D1: the model finds a lost event if %s', (_defect, find) => {
    expect(textOf(find())).toMatch(/event \d+ would never be claimed/);
  });

  it('D1: the low-water marks of 0.1.0 lose nothing while polls do not overlap', () => {
    expect(withOldMark(1).path).toBeUndefined();
  });
});
