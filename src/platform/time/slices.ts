import { Injectable } from '@nestjs/common';
import { quietTurn } from '../admission/quiet-turn';
import { Slots } from '../admission/slots';
import { TooCostly } from '../errors/too-costly';
import { RequestContext } from '../request/request-context';
import { type Steps } from './steps';
import { stopwatch } from './stopwatch';
import { withinTime } from './within-time';

/** Other requests wait this long behind a time slice, garbage collection excluded. */
const SLICE_MILLISECONDS = 8;

/**
 * Length of the first slice, in which most computations end. It is short, since it needs no permit, and many requests
 * may begin in one turn of the event loop.
 */
const FIRST_SLICE_MILLISECONDS = 2;

/** How long a later slice may wait for its permit. Only behind many thousands of slices does it wait this long. */
const LONGEST_WAIT_MILLISECONDS = 30_000;

/**
 * Time limit of a step whose duration depends on an expression of a caller. Such a step cannot pause, so it is
 * interrupted.
 */
export const LONGEST_STEP_MILLISECONDS = 40;
const LONGEST_LARGE_STEP_MILLISECONDS = 200;
const LARGE_CHARACTERS = 1_500_000;

/**
 * Returns the time limit of a step that processes this many characters. For a body near the size limit it is longer,
 * since parsing such a body takes equally long.
 */
export const longestStepOn = (characters: number): number =>
  characters < LARGE_CHARACTERS ? LONGEST_STEP_MILLISECONDS : LONGEST_LARGE_STEP_MILLISECONDS;

/** Milliseconds of CPU time for steps that evaluate expressions of callers: of one step, and of all together. */
export interface StepLimits {
  readonly ofOne: number;
  readonly ofAll: number;
}

/**
 * Factor of the elapsed time for a step when the machine is busy: the step is tried again with this much more time if
 * the process ran for less than the limit during the try.
 */
const MORE_TIME = 10;

/** Maximum number of tries of a step. The last one needs a process that gets less than a tenth of a processor. */
const MOST_TRIES = 3;

class StepTooLong extends TooCostly {
  constructor(readonly wasPreempted: boolean) {
    super('A step takes too long');
  }
}

/**
 * Runs long computations on this thread in time slices, between which other requests run. A computation that fits into
 * its first slice runs at once. Of longer computations, one slice runs in each turn of the event loop, and their
 * callers are served in turn. A computation ends when its caller disconnects.
 */
@Injectable()
export class Slices {
  private readonly turns = new Slots({
    permits: 1,
    longestWaitMilliseconds: LONGEST_WAIT_MILLISECONDS,
    busyMessage: 'Too many large bodies at once. Try again in a few seconds.',
  });

  constructor(private readonly requests: RequestContext) {}

  /** @throws ServiceError 'busy' if a slice waits too long; any error of the computation */
  run<T>(steps: Steps<T>): Promise<T> {
    return this.inSlices((milliseconds) => sliceOf(steps, milliseconds));
  }

  /**
   * Like {@link run}, for steps that an expression of a caller can make long. A step that exceeds its limit is
   * interrupted. There is a second try, since the first may have included compilation or a garbage collection. Node
   * interrupts by elapsed time, so on a busy machine there are up to three tries, each with more time.
   * @param begin begins the steps again
   * @throws TooCostly beyond the limits
   */
  async runLimited<T>(begin: () => Steps<T>, limits: StepLimits): Promise<T> {
    let elapsedOfOne = limits.ofOne;
    for (let tries = 1; ; tries++) {
      try {
        return await this.limited(begin(), limits, elapsedOfOne);
      } catch (error) {
        if (!(error instanceof StepTooLong) || tries === MOST_TRIES || (tries > 1 && !error.wasPreempted)) throw error;
        if (error.wasPreempted) elapsedOfOne *= MORE_TIME;
      }
      await this.turn();
    }
  }

  private limited<T>(steps: Steps<T>, { ofOne, ofAll }: StepLimits, elapsedOfOne: number): Promise<T> {
    let left = ofAll;
    return this.inSlices((milliseconds) => {
      const spent = stopwatch();
      const slice = withinTime(milliseconds + elapsedOfOne, () => sliceOf(steps, milliseconds));
      left -= spent();
      if (slice === undefined) throw new StepTooLong(spent() < ofOne);
      if (slice.done === undefined && left <= 0) throw new TooCostly('The steps take too long');
      return slice;
    });
  }

  private async inSlices<T>(next: (milliseconds: number) => Slice<T>): Promise<T> {
    let { done } = next(FIRST_SLICE_MILLISECONDS);
    while (done === undefined) ({ done } = await this.inTurn(() => next(SLICE_MILLISECONDS)));
    return done.value;
  }

  /**
   * Returns a function for loops that await. Call it for each item: it lets other requests run when the time of a slice
   * is over.
   */
  pauses(): () => Promise<void> {
    let startsAt = performance.now();
    return async () => {
      if (performance.now() - startsAt < SLICE_MILLISECONDS) return;
      await this.turn();
      startsAt = performance.now();
    };
  }

  /** Waits for a turn of the event loop for this caller, so that many small requests at once do not delay others. */
  turn(): Promise<void> {
    return this.inTurn(() => undefined);
  }

  private inTurn<T>(work: () => T): Promise<T> {
    return this.turns.run(this.requests.ticket, async () => {
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
