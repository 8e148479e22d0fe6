import { type Criterion } from '../../fhirpath/fhirpath';
import { withinTime } from '../../platform/time/within-time';
import { ChangedTexts } from './changed-texts';

/** On a resource without any content. */
const MAX_TRIAL_MILLISECONDS = 40;

/** A criterion that says nothing of any change. */
export const undecidable: Criterion = {
  cost: 0,
  matches: () => {
    throw new Error('it does not compile');
  },
};

/** Tries a criterion on a resource without content, created, changed and deleted. @throws Error when that fails, or is slow */
export function tryCriteria(criteria: Criterion, type: string): void {
  const text = JSON.stringify({ resourceType: type });
  const answer = withinTime(MAX_TRIAL_MILLISECONDS, () =>
    [new ChangedTexts(text, undefined), new ChangedTexts(text, text), new ChangedTexts(undefined, text)].map((change) =>
      criteria.matches(change, () => undefined),
    ),
  );
  if (answer === undefined) throw new Error('it takes too long');
}
