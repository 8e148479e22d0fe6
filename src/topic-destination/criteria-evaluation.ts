import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/time/clock';
import { withinTime } from '../platform/time/within-time';
import { type ChangedTexts, type TopicCriteria } from './topic-criteria';

/** Each write of the type waits for it, and so does everybody else: criteria take some 10 to 100 µs. */
const MAX_MILLISECONDS = 250;
/** A hundred times as long: what takes too long may hold up the process for 1 % of the time. */
const PAUSE_MILLISECONDS = 10_000;

/** What criteria say of a change; undefined where they cannot be evaluated, or take too long. */
export type Decision = boolean | undefined;

/** Evaluates criteria, which users write, so that none of them holds up the process. */
@Injectable()
export class CriteriaEvaluation {
  private readonly pausedUntil = new WeakMap<TopicCriteria, number>();

  constructor(private readonly clock: Clock) {}

  /** One decision for each criterion, in their order. What took too long is not asked again for a while. */
  decide(criteria: readonly TopicCriteria[], change: ChangedTexts): readonly Decision[] {
    const now = this.clock.now().getTime();
    const decisions: Decision[] = [];
    const decideNext = (): true => {
      for (let one = criteria[decisions.length]; one !== undefined; one = criteria[decisions.length]) {
        decisions.push(now < (this.pausedUntil.get(one) ?? 0) ? undefined : decisionOf(one, change));
      }
      return true;
    };
    while (withinTime(MAX_MILLISECONDS, decideNext) === undefined) {
      const slow = criteria[decisions.length];
      if (slow !== undefined) this.pausedUntil.set(slow, now + PAUSE_MILLISECONDS);
      decisions.push(undefined);
    }
    return decisions;
  }
}

function decisionOf(criteria: TopicCriteria, change: ChangedTexts): Decision {
  try {
    return criteria(change);
  } catch (error) {
    // The end of the time is no Error of this realm, and not ours to take.
    if (!(error instanceof Error)) throw error;
    return undefined;
  }
}
