import { type Model } from './explore';
import {
  type Delivery,
  EVENTS,
  type Sender,
  type Variant,
  have,
  isFreeFor,
  isInForce,
  openBatch,
  opened,
  settled,
} from './delivery-state';

const IDLE: Sender = { stage: 'idle', epoch: 0, batch: [], first: 0, hasLostLease: false };

/**
 * The model of delivery. It covers every interleaving of three writers (two versions of one resource, and another
 * resource), two workers that claim, send and settle, and a receiver that may refuse. Workers may die, or be frozen for
 * any time.
 */
export const deliveryModel = (variant: Variant): Model<Delivery> => ({
  start: {
    ...{ sequence: 0, places: EVENTS.map(() => 'unwritten'), numbers: EVENTS.map(() => 0) },
    ...{ epoch: 0, owner: 'none', isLeaseOver: false, batch: [], nextNumber: 1, delivered: 0, cursor: 0 },
    ...{ senders: [IDLE, IDLE], seen: [], fault: undefined },
  },
  *steps(state) {
    yield* writing(state);
    for (const index of state.senders.keys()) yield* working(state, index, variant);
  },
  broken: (state) => state.fault ?? lost(state, variant),
  keyOf: ({ places, numbers, owner, isLeaseOver, batch, nextNumber, delivered, cursor, senders, seen, epoch }) => {
    const workers = senders.map(
      ({ stage, epoch: own, batch: held, first, hasLostLease }, index) =>
        `${stage}${stage === 'idle' ? '' : `${own === epoch}`}${owner === index}${held.join('')}.${first}${hasLostLease}`,
    );
    const destination = `${owner === 'dead'}${isLeaseOver} ${batch.join('')} ${nextNumber} ${delivered} ${cursor}`;
    return `${places.join()} ${numbers.join()} ${destination} ${seen.join()} ${workers.sort().join()}`;
  },
});

type Steps = Iterable<readonly [what: string, next: Delivery]>;

function* writing(state: Delivery): Steps {
  for (const [event, name] of EVENTS.entries()) {
    const place = state.places[event];
    const becomes = (to: Delivery['places'][number]): Delivery => ({ ...state, places: state.places.with(event, to) });
    // The second version waits for the lock of the resource's row.
    const isLocked = name === 'A2' && (state.places[0] === 'unwritten' || state.places[0] === 'numbered');
    if (place === 'unwritten' && !isLocked) {
      const sequence = state.sequence + 1;
      yield [
        `${name} takes number ${sequence}`,
        { ...becomes('numbered'), sequence, numbers: state.numbers.with(event, sequence) },
      ];
    } else if (place === 'numbered') {
      yield [`${name} is committed`, becomes('queued')];
      yield [`${name} is rolled back`, becomes('rolled back')];
    }
  }
}

function* working(state: Delivery, index: number, variant: Variant): Steps {
  const { senders } = state;
  const sender = senders[index] ?? IDLE;
  const name = `worker ${index + 1}`;
  const becomes = (change: Partial<Sender>, next: Delivery = state): Delivery => ({
    ...next,
    senders: next.senders.with(index, { ...sender, ...change }),
  });
  const isRowLocked = senders.some(({ stage }) => stage === 'claiming');
  const { stage } = sender;
  if (stage === 'idle') {
    if (!isRowLocked && isFreeFor(state, variant)) yield [`${name} claims`, becomes({ stage: 'claiming' })];
    return;
  }
  yield [`${name} dies`, { ...becomes(IDLE), owner: state.owner === index ? 'dead' : state.owner }];
  if (state.owner === index && !state.isLeaseOver)
    yield [`the lease of ${name} ends`, { ...becomes({ hasLostLease: true }), isLeaseOver: true }];
  if (stage === 'claiming') {
    const owned: Delivery = { ...state, epoch: state.epoch + 1, owner: index, isLeaseOver: false };
    const next = openBatch(owned, variant);
    yield [
      next.batch.length === 0 ? `${name} finds nothing` : `${name} opens a batch of ${have(next.batch)}`,
      next.batch.length === 0 ? becomes(IDLE, { ...next, owner: 'none' }) : becomes(opened(next), next),
    ];
  } else if (stage === 'has a batch' || stage === 'has settled early') {
    if (variant === 'a batch is settled before it is sent' && stage === 'has a batch') {
      if (isRowLocked) return;
      const next = isInForce(state, index, sender, variant) ? settled(state, variant) : state;
      yield [`${name} settles`, becomes({ stage: 'has settled early' }, next)];
      return;
    }
    const arrived = arrive(state, sender);
    const after = stage === 'has settled early' ? IDLE : { stage: 'answered' as const };
    yield [`${name} sends ${have(sender.batch)}, which is taken`, becomes(after, arrived)];
    yield [`${name} sends ${have(sender.batch)}, and the answer is lost`, becomes({ stage: 'refused' }, arrived)];
    yield [`${name} sends ${have(sender.batch)}, which is refused`, becomes({ stage: 'refused' })];
  } else if (!isRowLocked) {
    yield* ending(state, index, variant);
  }
}

/** The worker stores the result of its attempt. */
function* ending(state: Delivery, index: number, variant: Variant): Steps {
  const sender = state.senders[index] ?? IDLE;
  const name = `worker ${index + 1}`;
  const free = (next: Delivery): Delivery => ({ ...next, senders: next.senders.with(index, IDLE) });
  if (!isInForce(state, index, sender, variant)) {
    yield [`the late result of ${name} is discarded`, free(state)];
  } else if (sender.stage === 'refused' && variant !== 'a refused batch is skipped') {
    yield [`${name} counts a failure`, free({ ...state, owner: 'none' })];
  } else {
    const next = settled(state, variant);
    yield [`${name} settles`, free({ ...next, owner: 'none' })];
    const more = openBatch({ ...next, owner: index, isLeaseOver: false }, variant);
    if (more.batch.length > 0)
      yield [
        `${name} settles and opens a batch of ${have(more.batch)}`,
        { ...more, senders: more.senders.with(index, { ...IDLE, ...opened(more) }) },
      ];
  }
}

/** Records the arrival at the receiver, and detects faults. */
function arrive(state: Delivery, { batch, first }: Sender): Delivery {
  let { seen, fault } = state;
  for (const [offset, event] of batch.entries()) {
    const at = first - 1 + offset;
    if (seen[at] !== undefined && seen[at] !== event) fault ??= `number ${at + 1} means two events`;
    if (!seen.includes(event)) {
      if (event === 0 && seen.includes(1)) fault ??= 'A1 arrives for the first time after A2';
      seen = at < seen.length ? seen.with(at, event) : [...seen, event];
    } else if (seen[at] !== event) fault ??= `${have([event])} arrives under two numbers`;
  }
  return { ...state, seen, fault };
}

function lost(
  { places, numbers, seen, senders, batch, delivered, epoch, cursor }: Delivery,
  variant: Variant,
): string | undefined {
  const committed = places.filter((place) => ['queued', 'in process', 'delivered'].includes(place)).length;
  const queued = places.filter((place) => place === 'queued').length;
  if (delivered + batch.length + queued !== committed)
    return `${delivered} delivered, ${batch.length} in process and ${queued} queued, of ${committed} committed`;
  for (const [event, place] of places.entries()) {
    const isToBeSent = senders.some(({ stage, batch: held }) => stage === 'has settled early' && held.includes(event));
    if (place === 'delivered' && !seen.includes(event) && !isToBeSent)
      return `${have([event])} is counted and never sent`;
    if (
      variant === 'events are claimed by a cursor instead of their state' &&
      place === 'queued' &&
      (numbers[event] ?? 0) <= cursor
    )
      return `${have([event])} is never claimed`;
  }
  const isRobbed = senders.some(
    ({ stage, epoch: own, hasLostLease }) =>
      ['has a batch', 'answered', 'refused'].includes(stage) && own !== epoch && !hasLostLease,
  );
  return isRobbed ? 'two workers hold one destination' : undefined;
}
