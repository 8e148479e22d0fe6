import { isObject, objectsIn } from '../../platform/json/plain-object';
import { type ItemCheck } from './binding-check';
import { checkBundle } from './bundle-rules';
import { checkConstrainedPaths } from './definition-rules';

/**
 * Checks by type. Some replace invariants whose expressions visit all descendants, and need only one walk. Others are
 * rules that R4 states in prose.
 */
export const HAND_MADE: Readonly<Record<string, ItemCheck>> = {
  Attachment: (attachment, run) => {
    if (!isObject(attachment)) return;
    const { data, size } = attachment;
    if (typeof data !== 'string' || typeof size !== 'number' || byteCountOf(data) === size) return;
    run.reportAt('size', 'value', `It must be the number of bytes in "data", ${byteCountOf(data)}, or be left out.`);
  },
  Bundle: checkBundle,
  CodeSystem: (system, run) => {
    if (isObject(system) && system.supplements !== undefined && system.content !== 'supplement')
      run.reportAt('content', 'value', 'A code system with "supplements" must have the content "supplement".');
    if (isDistinct(system, 'concept', 'code')) return;
    run.report('invariant', 'csd-1: within a code system, all codes must be unique.');
  },
  StructureDefinition: (definition, run) => {
    checkConstrainedPaths(definition, run);
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
  const elements = isObject(differential) ? objectsIn(differential.element) : [];
  return elements.flatMap(({ path }) => (typeof path === 'string' ? [path] : []));
}

/** Number of the bytes that a base64 text encodes. White space is allowed between its characters. */
function byteCountOf(base64: string): number {
  let signs = 0;
  for (let index = 0; index < base64.length; index += 1) {
    const code = base64.charCodeAt(index);
    if (code > 0x20 && code !== 0x3d) signs += 1;
  }
  return Math.floor((signs * 3) / 4);
}

/** Whether all values of a member in nested elements differ from each other. */
function isDistinct(root: unknown, children: string, member: string): boolean {
  const seen = new Set<unknown>();
  const pending = [root];
  for (let owner = pending.pop(); owner !== undefined; owner = pending.pop()) {
    if (!isObject(owner)) continue;
    for (const child of objectsIn(owner[children])) {
      const key = child[member];
      if (key !== undefined && seen.has(key)) return false;
      seen.add(key);
      pending.push(child);
    }
  }
  return true;
}
