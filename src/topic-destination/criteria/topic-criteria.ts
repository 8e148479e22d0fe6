import { type Criterion } from '../../fhirpath/fhirpath';
import { stopwatch } from '../../platform/time/stopwatch';
import { withinTime } from '../../platform/time/within-time';
import { ChangedTexts } from './changed-texts';

/** Time limit on a resource without content. */
const MAX_TRIAL_MILLISECONDS = 40;
/**
 * On a busy machine the time may be over before this process worked for half of it: that says nothing of the criterion.
 */
const MAX_TRIALS = 5;

/** A criterion that can decide no change. */
export const undecidable: Criterion = {
  cost: 0,
  matches: () => {
    throw new Error('it does not compile');
  },
};

/** Tries a criterion on an empty resource, created, changed and deleted. @throws Error when it fails or is slow */
export function tryCriteria(criteria: Criterion, type: string): void {
  const text = JSON.stringify({ resourceType: type });
  const matches = (): unknown =>
    [new ChangedTexts(text, undefined), new ChangedTexts(text, text), new ChangedTexts(undefined, text)].map((change) =>
      criteria.matches(change, () => undefined),
    );
  for (let trial = 0; trial < MAX_TRIALS; trial++) {
    const spent = stopwatch();
    if (withinTime(MAX_TRIAL_MILLISECONDS, matches) !== undefined) return;
    if (spent() > MAX_TRIAL_MILLISECONDS / 2) break;
  }
  throw new Error('it takes too long');
}
