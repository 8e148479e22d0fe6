import { type Criterion, type Versions } from '../../fhirpath/fhirpath';
import { stopwatch } from '../../platform/time/stopwatch';
import { withinTime } from '../../platform/time/within-time';

/** Time limit of a criterion on a resource without content. */
const MAX_TRIAL_MILLISECONDS = 40;
/**
 * How often a criterion is tried. The first trial may include compilation or a garbage collection. On a busy machine,
 * the time limit may pass although this process ran for less than half of it. Such trials say nothing about the
 * criterion, so they are repeated.
 */
const MAX_TRIALS = 5;

/** A change as criteria see it, of the stored texts after and before it. One is undefined at a creation or deletion. */
export const changeOf = (current: string | undefined, previous: string | undefined): Versions => ({
  current,
  previous,
  values: { current: parsedText(current), previous: parsedText(previous) },
});

const parsedText = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

/** A criterion that cannot decide any change, for one that does not compile. */
export const undecidable: Criterion = {
  cost: 0,
  matches: () => {
    throw new Error('it does not compile');
  },
};

/** Tries a criterion on an empty resource: created, changed and deleted. @throws Error if it fails or is slow */
export function tryCriteria(criteria: Criterion, type: string): void {
  const text = JSON.stringify({ resourceType: type });
  const matches = (): unknown =>
    [changeOf(text, undefined), changeOf(text, text), changeOf(undefined, text)].map((change) =>
      criteria.matches(change, () => undefined),
    );
  for (let trial = 0; trial < MAX_TRIALS; trial++) {
    const spent = stopwatch();
    if (withinTime(MAX_TRIAL_MILLISECONDS, matches) !== undefined) return;
    if (trial > 0 && spent() > MAX_TRIAL_MILLISECONDS / 2) break;
  }
  throw new Error('it takes too long');
}
