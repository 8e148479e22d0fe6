import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { withinTime } from '../platform/time/within-time';
import { type ChangedTexts } from './changed-texts';
import { ReferenceLookup, type WantedResource } from './reference-lookup';
import { SlowWork } from './slow-work';
import { type ResolveReference, type TopicCriteria } from './topic-criteria';

/** Each write of the type waits for it, and so does everybody else: criteria take some 1 to 100 µs. */
const MAX_MILLISECONDS = 250;

/** References of references of references. */
const MAX_ROUNDS = 3;
const MAX_REFERENCES = 100;

/** What criteria say of a change; undefined where they cannot be evaluated, or take too long. */
export type Decision = boolean | undefined;

/** Reads what `resolve()` leads to: texts by key (`Patient/p7`), of those that are stored. */
export type LoadReferences = (wanted: readonly WantedResource[]) => Promise<ReadonlyMap<string, string>>;

/** Evaluates criteria, which users write, so that none of them holds up the process. */
@Injectable()
export class CriteriaEvaluation {
  constructor(
    private readonly slowWork: SlowWork,
    private readonly environment: Environment,
  ) {}

  /** One decision for each criterion, in their order. What takes too long is not asked again for a while. */
  async decide(criteria: readonly TopicCriteria[], change: ChangedTexts, load: LoadReferences): Promise<Decision[]> {
    const known = new Map<string, string | undefined>();
    let open = criteria.map((_criteria, index) => index);
    const decisions: Decision[] = open.map(() => undefined);
    for (let round = 0; round < MAX_ROUNDS && open.length > 0; round++) {
      const lookup = new ReferenceLookup(change, known, this.environment.baseUrl);
      open = open.filter((index) => {
        const missesBefore = lookup.misses;
        const one = criteria[index];
        const decision = one === undefined ? undefined : this.decideOne(one, change, lookup.resolve);
        const isWaiting = lookup.misses > missesBefore;
        if (!isWaiting) decisions[index] = decision;
        return isWaiting;
      });
      if (open.length === 0 || known.size + lookup.wanted.size > MAX_REFERENCES) break;
      const found = await load([...lookup.wanted.values()]);
      for (const key of lookup.wanted.keys()) known.set(key, found.get(key));
    }
    return decisions;
  }

  private decideOne(one: TopicCriteria, change: ChangedTexts, resolve: ResolveReference): Decision {
    if (one.isQuick) return decisionOf(() => one.matches(change, resolve));
    return this.slowWork.run(one, () => {
      const answer = withinTime(MAX_MILLISECONDS, () => ({ decision: decisionOf(() => one.matches(change, resolve)) }));
      return answer?.decision;
    });
  }
}

function decisionOf(question: () => boolean): Decision {
  try {
    return question();
  } catch (error) {
    // The end of the time is no Error of this realm, and not ours to take.
    if (!(error instanceof Error)) throw error;
    return undefined;
  }
}
