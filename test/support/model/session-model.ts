import { type Model } from './explore';

/** A Session of the family, as committed. The first one has the refresh token that is exchanged. */
interface Session {
  readonly isLive: boolean;
  /** The key that signed its access token. */
  readonly key: number;
}

interface Actor {
  readonly kind: 'exchange' | 'close' | 'withdrawal';
  readonly stage: number;
  /** The Sessions that its transaction ends, visible to others from its commit on. */
  readonly ends: readonly number[];
  /** The Sessions that its statement has found and still has to lock. */
  readonly left: readonly number[];
  /** The signing key that it has read. */
  readonly key: number;
}

interface State {
  readonly sessions: readonly Session[];
  readonly signingKey: number;
  readonly actors: readonly Actor[];
  /** Locks by name (`family`, `keys`, `row 0`): the actors that hold each, and whether they share it. */
  readonly locks: Readonly<Record<string, { readonly holders: readonly number[]; readonly isShared: boolean }>>;
}

export interface SessionVariant {
  readonly exchanges: number;
  /** Whether a close locks the family of refresh tokens. */
  readonly closeLocksFamily: boolean;
  /** Whether an exchange holds the keys until its commit. */
  readonly exchangeHoldsKeys: boolean;
  /** Whether the tokens of withdrawn keys end in the transaction that withdraws the keys, or in one after it. */
  readonly tokensEnd: 'with the keys' | 'after the keys';
}

const OVER = 99;
const NEW_KEY = 2;

/**
 * Exchanges of one refresh token, a close of its Session, and a withdrawal of the signing keys. Each step is one
 * statement of a READ COMMITTED transaction: it sees what is committed, and waits for row locks.
 */
export function sessionModel(variant: SessionVariant): Model<State> {
  const actor = (kind: Actor['kind']): Actor => ({ kind, stage: 0, ends: [], left: [], key: 0 });

  function* steps(state: State): Iterable<readonly [string, State]> {
    for (const [index, { kind, stage }] of state.actors.entries()) {
      const next = stage === OVER ? undefined : PROGRAMS[kind](state, index, variant);
      if (next !== undefined) yield [`${kind} ${index} takes step ${stage}`, next];
    }
  }

  return {
    start: {
      sessions: [{ isLive: true, key: 1 }],
      signingKey: 1,
      actors: [
        ...Array.from({ length: variant.exchanges }, () => actor('exchange')),
        actor('close'),
        actor('withdrawal'),
      ],
      locks: {},
    },
    steps,
    broken: (state) => {
      const isOver = (kind: Actor['kind']): boolean =>
        state.actors.some((one) => one.kind === kind && one.stage === OVER);
      const live = state.sessions.filter(({ isLive }) => isLive);
      if (isOver('close') && live.length > 0) return 'a Session of the family lives after its close';
      if (isOver('withdrawal') && live.some(({ key }) => key !== NEW_KEY)) return 'a token of a withdrawn key lives';
      if (state.sessions.length > 2) return 'a refresh token was exchanged twice';
      const isStuck = state.actors.some(({ stage }) => stage !== OVER) && [...steps(state)].length === 0;
      return isStuck ? 'the transactions wait for each other' : undefined;
    },
    keyOf: (state) => JSON.stringify(state),
  };
}

type Program = (state: State, index: number, variant: SessionVariant) => State | undefined;

/** Each program returns the state after the next statement of its actor; undefined while the statement waits. */
const PROGRAMS: Readonly<Record<Actor['kind'], Program>> = {
  exchange: (state, index, { exchangeHoldsKeys }) => {
    switch (state.actors[index]?.stage) {
      case 0:
        return locked(state, index, 'family');
      case 1:
        return state.sessions[0]?.isLive === true ? locking(state, index, [0]) : over(state, index);
      case 2:
        return endNext(state, index);
      case 3: {
        // The Session was closed while this exchange waited for its row, so the exchange is refused.
        if (state.actors[index].ends.length === 0) return over(state, index);
        const read = (after: State): State => changed(after, index, { key: after.signingKey });
        if (!exchangeHoldsKeys) return read(changed(state, index, { stage: 4 }));
        const held = locked(state, index, 'keys', true);
        return held && read(held);
      }
      default:
        return committed(state, index, [{ isLive: true, key: state.actors[index]?.key ?? 0 }]);
    }
  },
  close: (state, index, { closeLocksFamily }) => {
    switch (state.actors[index]?.stage) {
      case 0:
        return closeLocksFamily ? locked(state, index, 'family') : changed(state, index, { stage: 1 });
      case 1:
        return locking(
          state,
          index,
          liveOf(state, () => true),
        );
      case 2:
        return endNext(state, index);
      default:
        return committed(state, index);
    }
  },
  withdrawal: (state, index, { tokensEnd }) => {
    switch (state.actors[index]?.stage) {
      case 0:
        return locked(state, index, 'keys');
      case 1: {
        if (tokensEnd === 'with the keys') return changed(state, index, { stage: 2 });
        return changed(unlocked({ ...state, signingKey: NEW_KEY }, index), index, { stage: 2 });
      }
      case 2:
        return locking(
          state,
          index,
          liveOf(state, ({ key }) => key !== NEW_KEY),
        );
      case 3:
        return endNext(state, index);
      default:
        return committed({ ...state, signingKey: NEW_KEY }, index);
    }
  },
};

const changed = (state: State, index: number, change: Partial<Actor>): State => ({
  ...state,
  actors: state.actors.map((one, at) => (at === index ? { ...one, ...change } : one)),
});

const nextStage = (state: State, index: number): State =>
  changed(state, index, { stage: (state.actors[index]?.stage ?? 0) + 1 });

/** Takes a lock, and goes on. @returns undefined while another actor holds the lock */
function locked(state: State, index: number, name: string, isShared = false): State | undefined {
  const { holders, isShared: wasShared } = state.locks[name] ?? { holders: [], isShared };
  if (holders.length > 0 && !(isShared && wasShared)) return undefined;
  const locks = { ...state.locks, [name]: { holders: [...holders, index], isShared } };
  return nextStage({ ...state, locks }, index);
}

function unlocked(state: State, index: number): State {
  const left = Object.entries(state.locks)
    .map(([name, lock]) => [name, { ...lock, holders: lock.holders.filter((holder) => holder !== index) }] as const)
    .filter(([, { holders }]) => holders.length > 0);
  return { ...state, locks: Object.fromEntries(left) };
}

const liveOf = ({ sessions }: State, isFound: (session: Session) => boolean): number[] =>
  [...sessions.keys()].filter((at) => sessions[at]?.isLive === true && isFound(sessions[at]));

/** A statement has found these Sessions by its snapshot. */
const locking = (state: State, index: number, left: readonly number[]): State =>
  nextStage(changed(state, index, { left }), index);

/** Locks the next found Session and ends it, unless another transaction has committed its end meanwhile. */
function endNext(state: State, index: number): State | undefined {
  const { left = [], ends = [] } = state.actors[index] ?? {};
  const [at, ...others] = left;
  if (at === undefined) return nextStage(state, index);
  const after = locked(state, index, `row ${at}`);
  if (after === undefined) return undefined;
  const isLive = state.sessions[at]?.isLive === true;
  const { stage = 0 } = state.actors[index] ?? {};
  return changed(after, index, { stage, left: others, ends: isLive ? [...ends, at] : ends });
}

const over = (state: State, index: number): State =>
  unlocked(changed(state, index, { stage: OVER, ends: [], left: [], key: 0 }), index);

function committed(state: State, index: number, added: readonly Session[] = []): State {
  const { ends = [] } = state.actors[index] ?? {};
  const sessions = state.sessions.map((session, at) => (ends.includes(at) ? { ...session, isLive: false } : session));
  return over({ ...state, sessions: [...sessions, ...added] }, index);
}
