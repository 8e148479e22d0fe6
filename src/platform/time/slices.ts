import { Injectable } from '@nestjs/common';
import { quietTurn } from '../admission/quiet-turn';
import { Slots } from '../admission/slots';
import { TooCostly } from '../errors/too-costly';
import { RequestContext } from '../request/request-context';
import { type Steps } from './steps';
import { stopwatch } from './stopwatch';
import { withinTime } from './within-time';

/** Longest wait of other requests behind one slice, garbage collection excluded. */
const SLICE_MILLISECONDS = 8;

/**
 * Length of the first slice, in which most computations end. It takes no permit, so it is short: many requests may
 * begin in one turn.
 */
const FIRST_SLICE_MILLISECONDS = 2;

/** Each later slice takes a permit, so a computation waits this long only behind many thousands of slices. */
const LONGEST_WAIT_MILLISECONDS = 30_000;

/** Time limit of one step whose duration depends on a caller's expression: it cannot pause, so it is interrupted. */
export const LONGEST_STEP_MILLISECONDS = 40;
const LONGEST_LARGE_STEP_MILLISECONDS = 200;
const LARGE_CHARACTERS = 1_500_000;

/** The limit of a step that processes this much text: parsing a body near the size limit takes as long. */
export const longestStepOn = (characters: number): number =>
  characters < LARGE_CHARACTERS ? LONGEST_STEP_MILLISECONDS : LONGEST_LARGE_STEP_MILLISECONDS;

/** Limits of steps that evaluate callers' expressions, in milliseconds of CPU time. */
export interface StepLimits {
  readonly ofOne: number;
  readonly ofAll: number;
}

/** Time for a second try, if this process hardly ran during the first one because the machine is busy. */
const MORE_TIME = 10;

class StepTooLong extends TooCostly {
  constructor(readonly wasPreempted: boolean) {
    super('A step takes too long');
  }
}

/**
 * Runs long computations on this thread in time slices, between which requests are answered. A computation that fits
 * into one slice runs at once. Longer ones take turns by caller, one slice per turn of the event loop. They end when
 * the caller disconnects.
 */
@Injectable()
export class Slices {
  private readonly turns = new Slots({
    permits: 1,
    longestWaitMilliseconds: LONGEST_WAIT_MILLISECONDS,
    busyMessage: 'Too many large bodies at once. Try again in a few seconds.',
  });

  constructor(private readonly requests: RequestContext) {}

  /**
   * @throws ServiceError 'busy' if too many wait, and errors of the computation.
   * @throws ServiceError 'busy' when too many wait, and what the computation throws.
   */
  async run<T>(steps: Steps<T>): Promise<T> {
    let { done } = sliceOf(steps, FIRST_SLICE_MILLISECONDS);
    while (done === undefined) done = await this.inTurn(() => sliceOf(steps, SLICE_MILLISECONDS).done);
    return done.value;
  }

  /**
   * Like {@link run}, for steps that a caller's expression can make long: a step beyond its limit is interrupted. There
   * is a second try, since the first may have included compilation or a garbage collection.
   * @param begin restarts the steps
   * @throws TooCostly beyond the limits
   */
  async runLimited<T>(begin: () => Steps<T>, limits: StepLimits): Promise<T> {
    try {
      return await this.limited(begin(), limits);
    } catch (error) {
      if (!(error instanceof StepTooLong)) throw error;
      await this.turn();
      return this.limited(begin(), { ...limits, ofOne: limits.ofOne * (error.wasPreempted ? MORE_TIME : 1) });
    }
  }

  private async limited<T>(steps: Steps<T>, { ofOne, ofAll }: StepLimits): Promise<T> {
    let left = ofAll;
    const next = (milliseconds: number): Slice<T>['done'] => {
      const spent = stopwatch();
      const slice = withinTime(milliseconds + ofOne, () => sliceOf(steps, milliseconds));
      left -= spent();
      if (slice === undefined) throw new StepTooLong(spent() < ofOne);
      if (slice.done === undefined && left <= 0) throw new TooCostly('The steps take too long');
      return slice.done;
    };
    let done = next(FIRST_SLICE_MILLISECONDS);
    while (done === undefined) done = await this.inTurn(() => next(SLICE_MILLISECONDS));
    return done.value;
  }

  /** For loops that await: call it for each item. It yields when the time of a slice is over. */
  pauses(): () => Promise<void> {
    let startsAt = performance.now();
    return async () => {
      if (performance.now() - startsAt < SLICE_MILLISECONDS) return;
      await this.turn();
      startsAt = performance.now();
    };
  }

  /** Waits for a turn of the event loop, so that many small requests that arrive together do not delay all others. */
  turn(): Promise<void> {
    return this.inTurn(() => undefined);
  }

  private inTurn<T>(work: () => T): Promise<T> {
    const { caller: key, signal } = this.requests.ticket;
    return this.turns.run({ key, signal }, async () => {
      await quietTurn();
      return work();
    });
  }
}

interface Slice<T> {
  readonly done?: { readonly value: T };
}

function sliceOf<T>(steps: Steps<T>, milliseconds: number): Slice<T> {
  const end = performance.now() + milliseconds;
  do {
    const { done, value } = steps.next();
    if (done === true) return { done: { value } };
  } while (performance.now() < end);
  return {};
}
