import { isObject } from './fhirpath/compiled';
import { type ItemCheck } from './binding-check';

/** Invariants whose expressions walk all descendants, as one walk each. */
export const HAND_MADE: Readonly<Record<string, ItemCheck>> = {
  CodeSystem: (system, run) => {
    if (isDistinct(system, 'concept', 'code')) return;
    run.report('invariant', 'csd-1: within a code system, all codes must be unique.');
  },
  Questionnaire: (questionnaire, run) => {
    if (isDistinct(questionnaire, 'item', 'linkId')) return;
    run.report('invariant', 'que-2: the linkId of each item must be unique in the questionnaire.');
  },
};

/** Whether a member of nested elements never repeats. */
function isDistinct(root: unknown, children: string, member: string): boolean {
  const seen = new Set<unknown>();
  const pending = [root];
  for (let owner = pending.pop(); owner !== undefined; owner = pending.pop()) {
    const nested = isObject(owner) ? owner[children] : undefined;
    if (!Array.isArray(nested)) continue;
    for (const child of nested as readonly unknown[]) {
      if (!isObject(child)) continue;
      const key = child[member];
      if (key !== undefined && seen.has(key)) return false;
      seen.add(key);
      pending.push(child);
    }
  }
  return true;
}
