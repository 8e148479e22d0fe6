import { type Criterion } from '../../fhirpath/fhirpath';
import { withinTime } from '../../platform/time/within-time';
import { ChangedTexts } from './changed-texts';

/** Time limit on a resource without content. */
const MAX_TRIAL_MILLISECONDS = 40;

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
  const answer = withinTime(MAX_TRIAL_MILLISECONDS, () =>
    [new ChangedTexts(text, undefined), new ChangedTexts(text, text), new ChangedTexts(undefined, text)].map((change) =>
      criteria.matches(change, () => undefined),
    ),
  );
  if (answer === undefined) throw new Error('it takes too long');
}
