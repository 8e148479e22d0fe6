/** The events of the model: two versions of one resource, and one version of another resource. */
export const EVENTS = ['A1', 'A2', 'B'] as const;

const MAX_EVENTS_IN_BATCH = 2;

/** A defect in the statements or in their order; `none` is the design. */
export type Variant =
  | 'none'
  | 'events are claimed by a cursor instead of their state'
  | 'the latest event is claimed first'
  | 'workers take no lease'
  | 'settling ignores the epoch of the lease'
  | 'a batch is settled before it is sent'
  | 'a delivered batch is counted and not removed'
  | 'a refused batch is skipped';

/** A worker with its memory. */
export interface Sender {
  readonly stage: 'idle' | 'claiming' | 'has a batch' | 'has settled early' | 'answered' | 'refused';
  readonly epoch: number;
  /** Indexes of {@link EVENTS}. */
  readonly batch: readonly number[];
  /** Number of the first event of the batch. */
  readonly first: number;
  /** Whether another worker may have taken the destination over since the claim. */
  readonly hasLostLease: boolean;
}

/** One destination in the database, its events, and its receiver. */
export interface Delivery {
  readonly sequence: number;
  readonly places: readonly ('unwritten' | 'numbered' | 'rolled back' | 'queued' | 'in process' | 'delivered')[];
  /** Positions of the events in the queue; 0 for an event without a position. */
  readonly numbers: readonly number[];
  readonly epoch: number;
  /** The lease holder: the index of a worker, `dead` if that worker died, else `none`. */
  readonly owner: number | 'none' | 'dead';
  readonly isLeaseOver: boolean;
  /** The open batch; empty without an open batch. */
  readonly batch: readonly number[];
  readonly nextNumber: number;
  /** The total of delivered events. */
  readonly delivered: number;
  /** The position of the last delivered event. Only the variant of the model that reads behind a cursor uses it. */
  readonly cursor: number;
  readonly senders: readonly Sender[];
  /** The first arrival of each event at the receiver, by event number from 1. */
  readonly seen: readonly number[];
  readonly fault: string | undefined;
}

export const have = (events: readonly number[]): string => events.map((event) => EVENTS[event]).join(' and ');

/** Whether the destination has something to send, and no lease holder. */
export function isFreeFor(state: Delivery, variant: Variant): boolean {
  const isFree = typeof state.owner === 'string' || state.isLeaseOver || variant === 'workers take no lease';
  return isFree && (state.batch.length > 0 || readable(state, variant).length > 0);
}

/** Keeps the open batch, else opens one of the oldest events. */
export function openBatch(state: Delivery, variant: Variant): Delivery {
  if (state.batch.length > 0) return state;
  const oldestFirst = readable(state, variant).sort((one, other) => positionOf(state, one) - positionOf(state, other));
  const chosen =
    variant === 'the latest event is claimed first'
      ? oldestFirst.slice(-MAX_EVENTS_IN_BATCH)
      : oldestFirst.slice(0, MAX_EVENTS_IN_BATCH);
  const places = state.places.map((place, event) => (chosen.includes(event) ? 'in process' : place));
  return { ...state, batch: chosen, places };
}

/** The state of a worker after it has read the open batch. */
export const opened = ({ epoch, batch, nextNumber }: Delivery): Sender => ({
  ...{ stage: 'has a batch', epoch, batch, first: nextNumber, hasLostLease: false },
});

/** Whether the result of a worker may still be stored. */
export const isInForce = (state: Delivery, index: number, { epoch }: Sender, variant: Variant): boolean =>
  variant === 'settling ignores the epoch of the lease'
    ? state.batch.length > 0
    : state.owner === index && state.epoch === epoch && state.batch.length > 0;

/** Counts and removes the open batch, and increases the epoch: results of earlier epochs can no longer be stored. */
export function settled(state: Delivery, variant: Variant): Delivery {
  const { batch, delivered, nextNumber, epoch } = state;
  const counted = { delivered: delivered + batch.length, nextNumber: nextNumber + batch.length, epoch: epoch + 1 };
  if (variant === 'a delivered batch is counted and not removed') return { ...state, ...counted };
  const places = state.places.map((place, event) => (batch.includes(event) ? 'delivered' : place));
  const cursor =
    variant === 'events are claimed by a cursor instead of their state'
      ? Math.max(state.cursor, ...batch.map((event) => positionOf(state, event)))
      : 0;
  return { ...state, ...counted, places, cursor, batch: [] };
}

const positionOf = ({ numbers }: Delivery, event: number): number => numbers[event] ?? 0;

const readable = (state: Delivery, variant: Variant): number[] =>
  [...EVENTS.keys()].filter(
    (event) =>
      state.places[event] === 'queued' &&
      (variant !== 'events are claimed by a cursor instead of their state' || positionOf(state, event) > state.cursor),
  );
