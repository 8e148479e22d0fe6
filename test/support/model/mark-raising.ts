import { type Queue, type Raising, done, snapshot } from './queue-model';

/** One run of the function that raises the mark. */
interface Raiser {
  readonly stage: 'idle' | 'has its id' | 'has read the last number' | 'has locked';
  readonly id: number;
  readonly last: number;
}

interface MarkRaising {
  /** The row of the mark: the last number that a run has read, and the transaction id noted with it. */
  readonly notedNumber: number;
  readonly notedId: number;
  readonly raisers: readonly Raiser[];
  readonly runsLeft: number;
}

export interface MarkVariant {
  readonly raisers: number;
  readonly runs: number;
  readonly notes: 'its own id' | 'pg_snapshot_xmax';
  readonly takesId: 'after the last number' | 'before the last number';
  /** Whether the function raises the mark only after all transactions up to the noted id have ended. */
  readonly waits: boolean;
}

const IDLE: Raiser = { stage: 'idle', id: 0, last: 0 };

/** `raise_outbox_mark()`, whose state is one row of the database (ADR 0035). */
export function markRaising({ raisers, runs, notes, takesId, waits }: MarkVariant): Raising<MarkRaising> {
  const openIds = (state: MarkRaising): number[] => state.raisers.map(({ id }) => id);

  function* run(queue: Queue, state: MarkRaising, index: number, raiser: Raiser): Iterable<Step> {
    const becomes = (change: Partial<Raiser>): MarkRaising => ({
      ...state,
      raisers: state.raisers.with(index, { ...raiser, ...change }),
    });
    const over = { ...state, raisers: state.raisers.with(index, IDLE) };
    const name = `raiser ${index + 1}`;
    switch (raiser.stage) {
      case 'idle':
      case 'has its id': {
        if (raiser.stage === 'idle' && state.runsLeft === 0) return;
        const runsLeft = raiser.stage === 'idle' ? state.runsLeft - 1 : state.runsLeft;
        if (raiser.stage === 'idle' && takesId === 'before the last number') {
          const withId = { ...becomes({ stage: 'has its id', id: queue.nextId }), runsLeft };
          yield [`${name} takes its id`, { ...queue, nextId: queue.nextId + 1 }, withId];
        } else {
          const read = { ...becomes({ stage: 'has read the last number', last: queue.sequence }), runsLeft };
          yield [`${name} reads the last number, ${queue.sequence}`, queue, read];
        }
        return;
      }
      case 'has read the last number': {
        if (raiser.last <= state.notedNumber) {
          yield [`${name} finds nothing new`, done(queue, raiser.id), over];
          return;
        }
        if (state.raisers.some(({ stage }) => stage === 'has locked')) {
          yield [`${name} skips the locked row`, done(queue, raiser.id), over];
          return;
        }
        const id = raiser.id > 0 ? raiser.id : queue.nextId;
        const locked = { ...queue, nextId: Math.max(queue.nextId, id + 1) };
        // The snapshot of a statement is older than its lock. That is safe: the oldest open id only grows, so an old
        // snapshot allows less, never more.
        if (waits && state.notedId > snapshot(queue, openIds(state)).xmin)
          yield [`${name} locks the row and may not raise yet`, done(locked, id), over];
        else yield [`${name} locks the row`, locked, becomes({ stage: 'has locked', id })];
        return;
      }
      case 'has locked': {
        const notedId = notes === 'its own id' ? raiser.id : snapshot(queue, openIds(state)).xmax;
        const raised = done({ ...queue, decided: state.notedNumber }, raiser.id);
        const noted = { ...over, notedNumber: raiser.last, notedId };
        yield [`${name} decides ${state.notedNumber} and notes ${raiser.last}`, raised, noted];
        yield [`${name} rolls back`, done(queue, raiser.id), over];
      }
    }
  }

  return {
    start: { notedNumber: 0, notedId: 0, raisers: Array.from({ length: raisers }, () => IDLE), runsLeft: runs },
    *steps(queue, state) {
      for (const [index, raiser] of state.raisers.entries()) yield* run(queue, state, index, raiser);
    },
    keyOf: ({ notedNumber, notedId, runsLeft, raisers: all }, zero) => {
      const from = (number: number): number => Math.max(number - zero.number, 0);
      const runs = all.map(({ stage, id, last }) =>
        stage === 'idle' ? '' : `${stage.slice(-6)}${id && id - zero.id}.${from(last)}`,
      );
      return `${from(notedNumber)} ${notedId && notedId - zero.id} ${runsLeft} ${runs.sort().join()}`;
    },
  };
}

type Step = readonly [what: string, queue: Queue, state: MarkRaising];
