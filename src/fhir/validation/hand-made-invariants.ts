import { isObject } from './fhirpath/compiled';
import { type ItemCheck } from './binding-check';

/** Invariants whose expressions walk all descendants, as one walk each. */
export const HAND_MADE: Readonly<Record<string, ItemCheck>> = {
  CodeSystem: (system, run) => {
    if (isDistinct(system, 'concept', 'code')) return;
    run.report('invariant', 'csd-1: within a code system, all codes must be unique.');
  },
  StructureDefinition: (definition, run) => {
    const [first, ...others] = differentialPathsOf(definition);
    if (first === undefined || !isObject(definition)) return;
    const root = `${first.replace(/\..*/, '')}.`;
    const isOfType = definition.kind === 'logical' || first.startsWith(String(definition.type));
    if (isOfType && others.every((path) => path.startsWith(root))) return;
    run.report('invariant', 'sdf-8a: the paths of the differential must begin with the type that is constrained.');
  },
  Questionnaire: (questionnaire, run) => {
    if (isDistinct(questionnaire, 'item', 'linkId')) return;
    run.report('invariant', 'que-2: the linkId of each item must be unique in the questionnaire.');
  },
};

function differentialPathsOf(definition: unknown): readonly string[] {
  const differential = isObject(definition) ? definition.differential : undefined;
  const elements = isObject(differential) ? differential.element : undefined;
  if (!Array.isArray(elements)) return [];
  return elements.flatMap((element: unknown) =>
    isObject(element) && typeof element.path === 'string' ? [element.path] : [],
  );
}

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
