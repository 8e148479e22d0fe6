import { type Model } from './explore';

/**
 * A transaction that records one event. `id` and `number` are 0 before the transaction has them. The stage is `over`
 * after a rollback, or when the event was claimed; then `id` and `number` are ignored.
 */
export interface Writer {
  readonly stage: 'open' | 'committed' | 'over';
  readonly id: number;
  readonly number: number;
}

/** The queue of one destination, as stored in the database. */
export interface Queue {
  /** The last issued event number. */
  readonly sequence: number;
  readonly nextId: number;
  /** The largest id of an ended transaction. */
  readonly lastDone: number;
  readonly writers: readonly Writer[];
  /** The largest claimed number. */
  readonly cursor: number;
  /** Every event up to this number is committed or rolled back, according to the raising function. */
  readonly decided: number;
  /** The mark that settling the open batch will set; undefined without an open batch. */
  readonly batchMark: number | undefined;
  /** With two snapshots: the event that the first one chose for the batch, until the second one opens it; else 0. */
  readonly chosen: number;
  /** The low-water mark: claims read only events above it. */
  readonly mark: number;
}

/** The part of the model that raises the mark, with a separate state. */
export interface Raising<State> {
  readonly start: State;
  readonly steps: (queue: Queue, state: State) => Iterable<readonly [what: string, queue: Queue, state: State]>;
  /**
   * @param zero the base of numbers and ids: states that differ only in it have the same behavior
   */
  readonly keyOf: (state: State, zero: { readonly number: number; readonly id: number }) => string;
}

export interface QueueVariant {
  readonly writers: number;
  readonly takesFirst: 'id' | 'number';
  readonly claimsAbove: 'mark' | 'cursor';
  /** Number of snapshots of the statement that opens a batch. */
  readonly snapshots: 1 | 2;
}

/**
 * The model of the queue. It covers every interleaving of writers, a worker that delivers one event at a time, and runs
 * of the raising function.
 */
export function queueModel<State>(
  variant: QueueVariant,
  raising: Raising<State>,
): Model<{ readonly queue: Queue; readonly raising: State }> {
  const writer: Writer = { stage: 'open', id: 0, number: 0 };
  return {
    start: {
      queue: {
        ...{ sequence: 0, nextId: 1, lastDone: 0, cursor: 0, decided: 0, batchMark: undefined, chosen: 0, mark: 0 },
        writers: Array.from({ length: variant.writers }, () => writer),
      },
      raising: raising.start,
    },
    *steps({ queue, raising: state }) {
      for (const [what, next] of writing(queue, variant)) yield [what, { queue: next, raising: state }];
      for (const [what, next] of claiming(queue, variant)) yield [what, { queue: next, raising: state }];
      for (const [what, next, raised] of raising.steps(queue, state)) yield [what, { queue: next, raising: raised }];
    },
    broken: ({ queue }) => {
      const above = queue[variant.claimsAbove];
      // An open transaction counts too, since it may commit next.
      const lost = queue.writers.find(({ stage, number }) => stage !== 'over' && number > 0 && number <= above);
      return lost && `event ${lost.number} would never be claimed: only what is above ${above} is read`;
    },
    // Writers are interchangeable, so only their progress counts.
    keyOf: ({ queue, raising: state }) => {
      const zero = { number: queue.mark, id: queue.lastDone };
      const writers = queue.writers.map(({ stage, id, number }) =>
        stage === 'over'
          ? 'x'
          : `${stage === 'open' ? `${id && id - zero.id}` : 'c'}.${number && number - zero.number}`,
      );
      const { sequence, nextId, cursor, decided, batchMark, chosen } = queue;
      const from = (number: number): number => Math.max(number - zero.number, 0);
      const batch = `${from(decided)} ${batchMark === undefined ? '' : from(batchMark)} ${from(chosen)}`;
      const numbers = `${sequence - zero.number} ${nextId - zero.id} ${variant.claimsAbove === 'cursor' ? cursor : ''}`;
      return `${numbers} ${batch} ${writers.sort().join()} ${raising.keyOf(state, zero)}`;
    },
  };
}

/** The values that `pg_snapshot_xmin` and `pg_snapshot_xmax` would have in this state. */
export function snapshot(
  { writers, lastDone }: Queue,
  otherIds: readonly number[],
): { readonly xmin: number; readonly xmax: number } {
  const xmax = lastDone + 1;
  const open = [...writers.filter(({ stage }) => stage === 'open').map(({ id }) => id), ...otherIds];
  return { xmax, xmin: Math.min(xmax, ...open.filter((id) => id > 0 && id < xmax)) };
}

/** Numbers of visible, unclaimed events. */
export const waiting = ({ writers }: Queue): number[] =>
  writers
    .filter(({ stage }) => stage === 'committed')
    .map(({ number }) => number)
    .sort((one, other) => one - other);

export const done = (queue: Queue, id: number): Queue => ({ ...queue, lastDone: Math.max(queue.lastDone, id) });

function* writing(queue: Queue, { takesFirst }: QueueVariant): Iterable<readonly [string, Queue]> {
  for (const [index, writer] of queue.writers.entries()) {
    const { stage, id, number } = writer;
    if (stage !== 'open') continue;
    const becomes = (change: Partial<Writer>): Queue => ({
      ...queue,
      writers: queue.writers.with(index, { ...writer, ...change }),
    });
    const name = `writer ${index + 1}`;
    if (id === 0 && (takesFirst === 'id' || number > 0))
      yield [`${name} takes its id`, { ...becomes({ id: queue.nextId }), nextId: queue.nextId + 1 }];
    if (number === 0 && (takesFirst === 'number' || id > 0)) {
      const sequence = queue.sequence + 1;
      yield [`${name} takes its number`, { ...becomes({ number: sequence }), sequence }];
    }
    if (id === 0 || number === 0) continue;
    yield [`${name} commits`, done(becomes({ stage: 'committed', id: 0 }), id)];
    yield [`${name} rolls back`, done(becomes(OVER), id)];
  }
}

function* claiming(queue: Queue, { claimsAbove, snapshots }: QueueVariant): Iterable<readonly [string, Queue]> {
  const { batchMark, chosen } = queue;
  if (batchMark !== undefined) {
    const mark = Math.max(queue.mark, batchMark);
    yield [`the batch is settled, the mark is ${mark}`, { ...queue, batchMark: undefined, mark }];
  } else if (chosen > 0) {
    yield opening({ ...queue, chosen: 0 }, chosen);
  } else {
    const oldest = waiting(queue).find((number) => number > queue[claimsAbove]);
    if (oldest === undefined) return;
    yield snapshots === 1 ? opening(queue, oldest) : [`event ${oldest} is chosen`, { ...queue, chosen: oldest }];
  }
}

function opening(queue: Queue, event: number): readonly [string, Queue] {
  const writers = queue.writers.map((writer) => (writer.number === event ? OVER : writer));
  const batchMark = Math.min(queue.decided, event - 1);
  return [
    `a batch is opened with event ${event}, its mark is ${batchMark}`,
    { ...queue, writers, batchMark, cursor: Math.max(queue.cursor, event) },
  ];
}

const OVER: Writer = { stage: 'over', id: 0, number: 0 };
