import { describe, expect, it } from '@jest/globals';

/**
 * A model of `outbox_mark` and of the low-water mark of one queue (ADR 0035) that visits every interleaving of writers,
 * of two raisers and of a worker, by PostgreSQL's rules of visibility. A snapshot has xmax = latest completed id + 1 and
 * xmin = least running id below xmax, else xmax. Change it together with `raise_outbox_mark()` and `OPEN_BATCH`.
 */
interface Variant {
  readonly writerTakesFirst?: 'number';
  readonly noted?: 'xmax' | 'early id';
  /** Where the worker reads the decided number in another snapshot than the events of its batch. */
  readonly opensInTwoSnapshots?: true;
}

type WriterStep = 'idle' | 'half' | 'ready' | 'committed' | 'aborted';
interface Raiser {
  step: 'idle' | 'read' | 'locked' | 'raising';
  id: number;
  issued: number;
  decides: number;
}

interface Writer {
  step: WriterStep;
  id: number;
  number: number;
}

interface State {
  issued: number;
  nextId: number;
  latestCompleted: number;
  row: { decided: number; noted: number; notedBy: number };
  writers: Writer[];
  raisers: Raiser[];
  raisesLeft: number;
  /** Numbers that were delivered. */
  taken: number[];
  lowWaterMark: number;
  /** The worker's open batch, with the mark that it leaves; in the variant also the decided number that it reads first. */
  batch: { mark: number } | { decided: number } | undefined;
}

const WRITERS = 2;
const RAISES = 3;

const start = (): State => ({
  ...{ issued: 0, nextId: 10, latestCompleted: 9, row: { decided: 0, noted: 0, notedBy: 0 } },
  writers: Array.from({ length: WRITERS }, () => ({ step: 'idle', id: 0, number: 0 })),
  raisers: Array.from({ length: 2 }, () => ({ step: 'idle', id: 0, issued: 0, decides: 0 })),
  ...{ raisesLeft: RAISES, taken: [], lowWaterMark: 0, batch: undefined },
});

const isRunning = ({ step, id }: Writer): boolean => id > 0 && (step === 'half' || step === 'ready');
const xmaxOf = (state: State): number => state.latestCompleted + 1;
const xminOf = (state: State): number =>
  Math.min(
    xmaxOf(state),
    ...state.writers.filter(isRunning).map(({ id }) => id),
    ...state.raisers.filter(({ id }) => id > 0).map(({ id }) => id),
  );
const complete = (state: State, id: number): void => {
  state.latestCompleted = Math.max(state.latestCompleted, id);
};
const visible = ({ writers, taken }: State): number[] =>
  writers.filter(({ step, number }) => step === 'committed' && !taken.includes(number)).map(({ number }) => number);

type Change = (state: State) => void;

function* writerSteps({ writers }: State, { writerTakesFirst }: Variant): Generator<Change> {
  for (const [index, { step }] of writers.entries()) {
    const change =
      (next: WriterStep, act: (writer: Writer, state: State) => void): Change =>
      (state) => {
        for (const writer of state.writers.slice(index, index + 1)) {
          act(writer, state);
          writer.step = next;
        }
      };
    const takeId = (writer: Writer, state: State): void => void (writer.id = state.nextId++);
    const takeNumber = (writer: Writer, state: State): void => void (writer.number = ++state.issued);
    const [first, second] = writerTakesFirst === 'number' ? [takeNumber, takeId] : [takeId, takeNumber];
    if (step === 'idle') yield change('half', first);
    if (step === 'half') yield change('ready', second);
    if (step === 'ready') {
      yield change('committed', ({ id }, state) => {
        complete(state, id);
      });
      yield change('aborted', ({ id }, state) => {
        complete(state, id);
      });
    }
  }
}

function* raiserSteps(now: State, { noted }: Variant): Generator<Change> {
  for (const [index, { step }] of now.raisers.entries()) {
    const change =
      (act: (raiser: Raiser, state: State) => void): Change =>
      (state) => {
        for (const raiser of state.raisers.slice(index, index + 1)) act(raiser, state);
      };
    const end = (raiser: Raiser, state: State): void => {
      complete(state, raiser.id);
      Object.assign(raiser, { step: 'idle', id: 0, issued: 0, decides: 0 });
    };
    if (step === 'idle' && now.raisesLeft > 0) {
      yield change((raiser, state) => {
        if (noted === 'early id' && raiser.id === 0) return void (raiser.id = state.nextId++);
        state.raisesLeft--;
        raiser.issued = state.issued;
        raiser.step = 'read';
      });
    }
    // The other raiser skips a row that is locked.
    const isLocked = now.raisers.some((raiser) => raiser.step === 'locked' || raiser.step === 'raising');
    if (step === 'read' && !isLocked) {
      yield change((raiser, state) => {
        if (state.row.noted + 1 > raiser.issued) {
          end(raiser, state);
          return;
        }
        raiser.id ||= state.nextId++;
        raiser.step = 'locked';
      });
    }
    if (step === 'locked') {
      yield change((raiser, state) => {
        if (state.row.notedBy > xminOf(state)) {
          end(raiser, state);
          return;
        }
        raiser.decides = state.row.noted;
        raiser.step = 'raising';
      });
    }
    if (step === 'raising') {
      yield change((raiser, state) => {
        const notedBy = noted === 'xmax' ? xmaxOf(state) : raiser.id;
        state.row = { decided: raiser.decides, noted: raiser.issued, notedBy };
        end(raiser, state);
      });
    }
  }
}

function* workerSteps(now: State, { opensInTwoSnapshots }: Variant): Generator<Change> {
  const { batch } = now;
  const open = (state: State, decided: number, waiting: readonly number[]): void => {
    const due = waiting.filter((number) => number > state.lowWaterMark);
    if (due.length === 0) return void (state.batch = undefined);
    const oldest = Math.min(...due);
    state.taken.push(oldest);
    state.taken.sort();
    state.batch = { mark: Math.min(decided, oldest - 1) };
  };
  if (batch === undefined && opensInTwoSnapshots === true) {
    const oldest = Math.min(...visible(now));
    if (oldest < Infinity) yield (state) => void (state.batch = { decided: oldest });
  } else if (batch === undefined && visible(now).length > 0) {
    yield (state) => {
      open(state, state.row.decided, visible(state));
    };
  } else if (batch !== undefined && 'decided' in batch) {
    yield (state) => {
      open(state, state.row.decided, [batch.decided]);
    };
  } else if (batch !== undefined && 'mark' in batch) {
    yield (state) => {
      state.lowWaterMark = Math.max(state.lowWaterMark, batch.mark);
      state.batch = undefined;
    };
  }
}

/** The first event that is committed, not delivered, and at or below the mark; and how many states were visited. */
function explore(variant: Variant): { readonly lost: number | undefined; readonly states: number } {
  const seen = new Set<string>();
  const left = [start()];
  for (let state = left.pop(); state !== undefined; state = left.pop()) {
    const key = JSON.stringify(state);
    if (seen.has(key)) continue;
    seen.add(key);
    const { lowWaterMark } = state;
    const lost = visible(state).find((number) => number <= lowWaterMark);
    if (lost !== undefined) return { lost, states: seen.size };
    for (const steps of [writerSteps, raiserSteps, workerSteps]) {
      for (const change of steps(state, variant)) {
        const next = structuredClone(state);
        change(next);
        left.push(next);
      }
    }
  }
  return { lost: undefined, states: seen.size };
}

describe('D1: the mark of the queue, in every interleaving', () => {
  it('loses nothing', () => {
    const { lost, states } = explore({});
    expect(lost).toBeUndefined();
    expect(states).toBeGreaterThan(10_000);
  });

  it.each<[string, Variant]>([
    ['writers take their number before their id', { writerTakesFirst: 'number' }],
    ['the next id of the snapshot is noted', { noted: 'xmax' }],
    ['the raiser takes its id before it reads the number', { noted: 'early id' }],
    ['the decided number comes from a later snapshot than the events', { opensInTwoSnapshots: true }],
  ])('loses where %s', (_name, variant) => {
    expect(explore(variant).lost).toBeDefined();
  });
});
