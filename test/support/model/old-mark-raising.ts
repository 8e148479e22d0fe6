import { type Queue, type Raising, waiting } from './queue-model';

/** A poll of a process, at a moment between two of its statements. */
interface Poll {
  readonly stage: 'idle' | 'asks for the living' | 'raises' | 'reads the last number' | 'reads the writers';
  /** The result of the poll's latest statement. */
  readonly answer: number;
}

/**
 * Memory shared by all polls of the process. A noted number becomes `decided` when all writers that were open when it
 * was noted have ended.
 */
interface OldMarkRaising {
  readonly decided: number;
  readonly noted: { readonly issued: number; readonly writers: readonly number[] } | undefined;
  readonly polls: readonly Poll[];
  readonly pollsLeft: number;
}

const IDLE: Poll = { stage: 'idle', answer: 0 };

/**
 * Low-water marks in the memory of a process, as in version 0.1.0. A poll reads `noted` again after an answer of the
 * database, and a poll begins while another one waits for its answer.
 */
export function oldMarkRaising(polls: number, runs: number): Raising<OldMarkRaising> {
  function* run(queue: Queue, state: OldMarkRaising, index: number, poll: Poll): Iterable<Step> {
    const becomes = (change: Partial<Poll>, memory: Partial<OldMarkRaising> = {}): OldMarkRaising => ({
      ...{ ...state, ...memory },
      polls: state.polls.with(index, { ...poll, ...change }),
    });
    const name = `poll ${index + 1}`;
    switch (poll.stage) {
      case 'idle': {
        if (state.pollsLeft === 0) return;
        const begun = { pollsLeft: state.pollsLeft - 1 };
        if (state.noted === undefined) {
          yield [`${name} begins`, queue, becomes({ stage: 'raises' }, begun)];
        } else {
          const open = openWriters(queue);
          const answer = state.noted.writers.filter((id) => open.includes(id)).length;
          yield [`${name} asks which writers live`, queue, becomes({ stage: 'asks for the living', answer }, begun)];
        }
        return;
      }
      case 'asks for the living':
        if (poll.answer !== 0) yield [`${name}: writers live`, queue, becomes({ stage: 'raises' })];
        // The process of version 0.1.0 fails with a TypeError if another poll has used the noted number.
        else if (state.noted === undefined) yield [`${name} fails`, queue, becomes(IDLE)];
        else
          yield [
            `${name}: none lives`,
            queue,
            becomes({ stage: 'raises' }, { decided: state.noted.issued, noted: undefined }),
          ];
        return;
      case 'raises': {
        const next = {
          ...queue,
          mark: Math.max(queue.mark, Math.min(state.decided, (waiting(queue)[0] ?? Infinity) - 1)),
        };
        yield [`${name} raises the mark to ${next.mark}`, next, becomes({ stage: 'reads the last number' })];
        return;
      }
      case 'reads the last number':
        if (queue.sequence <= state.decided || state.noted !== undefined) yield [`${name} ends`, queue, becomes(IDLE)];
        else
          yield [
            `${name} reads the last number, ${queue.sequence}`,
            queue,
            becomes({ stage: 'reads the writers', answer: queue.sequence }),
          ];
        return;
      case 'reads the writers': {
        const noted = { issued: poll.answer, writers: openWriters(queue) };
        yield [`${name} notes ${poll.answer} and who writes`, queue, becomes(IDLE, { noted })];
      }
    }
  }

  return {
    start: { decided: 0, noted: undefined, polls: Array.from({ length: polls }, () => IDLE), pollsLeft: runs },
    *steps(queue, state) {
      for (const [index, poll] of state.polls.entries()) yield* run(queue, state, index, poll);
    },
    keyOf: ({ decided, noted, polls: all, pollsLeft }, zero) => {
      const runs = all.map(({ stage, answer }) => `${stage}${answer}`);
      return `${zero.number} ${decided} ${noted?.issued}.${noted?.writers.map((id) => id - zero.id).join()} ${pollsLeft} ${runs.sort().join()}`;
    },
  };
}

type Step = readonly [what: string, queue: Queue, state: OldMarkRaising];

/**
 * Ids of writers that hold the table lock. A writer takes the lock before its first number, and keeps it to its end.
 */
const openWriters = ({ writers }: Queue): number[] =>
  writers.filter(({ stage, id }) => stage === 'open' && id > 0).map(({ id }) => id);
