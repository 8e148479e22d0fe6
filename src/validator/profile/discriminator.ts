import { isObject, type PlainObject } from '../../platform/json/plain-object';
import { capitalized, typeOfCanonical } from '../../fhir/definitions/definitions';
import { bareValue, type ElementValue, matchesPattern, valuesOfElement } from './element-values';
import { type ProfileNode } from './profile-tree';
import { type ProfileTrees } from './profile-trees';
import { type Slicing } from './stored-profile';

/** The resources around a value, for discriminators that test more than the value itself. */
export interface SliceSurroundings {
  /**
   * Finds the target of a reference inside the validated resource or its Bundle. For any other target, only its type is
   * returned.
   */
  resolve(reference: unknown): { readonly type?: string; readonly resource?: PlainObject };
  /** Whether a resource conforms to a profile; undefined if the profile is not stored on this server. */
  conforms(resource: PlainObject, canonical: string): boolean | undefined;
}

/** Tests whether a value belongs to a slice; undefined if this server cannot decide. */
export type SliceTest = (value: ElementValue, surroundings: SliceSurroundings) => boolean | undefined;

/** The test of a discriminator that this server cannot decide. */
const UNTOLD: SliceTest = () => undefined;

/**
 * Compiles the discriminators of a slicing to the test of one slice
 * (http://hl7.org/fhir/R4/profiling.html#discriminator).
 */
export function sliceTestOf(slice: ProfileNode, { discriminators }: Slicing, profiles: ProfileTrees): SliceTest {
  const tests = discriminators.map(({ type, path }) => discriminatorTest(slice, type, path, profiles) ?? UNTOLD);
  if (tests.length === 0) return UNTOLD;
  return (value, surroundings) => {
    let answer: boolean | undefined = true;
    for (const test of tests) {
      const one = test(value, surroundings);
      if (one === false) return false;
      answer = one === undefined ? undefined : answer;
    }
    return answer;
  };
}

/**
 * The steps of a path before and after `resolve()`. `other.resolve().code` has `other` before it and `code` after it.
 */
interface Way {
  readonly steps: readonly string[];
  readonly behind: readonly string[] | undefined;
}

function wayOf(path: string): Way | undefined {
  const [before = '', behind, ...others] = path.split(/(?:^|\.)resolve\(\)/);
  const parts = [before, behind].map((part) =>
    (part ?? '').split('.').filter((step) => step !== '' && step !== '$this'),
  );
  const [steps = [], rest = []] = parts;
  if (others.length > 0 || parts.flat().some((step) => !/^[A-Za-z]+(\[x\])?$/.test(step))) return undefined;
  return { steps, behind: behind === undefined ? undefined : rest };
}

function discriminatorTest(
  slice: ProfileNode,
  type: string,
  path: string,
  profiles: ProfileTrees,
): SliceTest | undefined {
  const way = wayOf(path);
  if (way === undefined) return undefined;
  const { steps, behind } = way;
  if (type === 'profile') return behind?.length === 0 || behind === undefined ? profileTest(slice, way) : undefined;
  if (behind === undefined) return plainTest(slice, type, steps, profiles);
  const targets = targetProfilesOf(nodeAt(slice, steps));
  if (type === 'type' && behind.length === 0) return targetTypeTest(targets, steps, profiles);
  // If the target must have exactly one profile, this profile holds the constraints of the slice on the target.
  const [only] = targets;
  const target = only === undefined || targets.length > 1 ? undefined : profiles.treeOf(only);
  const test = target === undefined ? undefined : plainTest(target, type, behind, profiles);
  if (test === undefined) return undefined;
  return ({ value }, surroundings) =>
    anyHolds(reach(value, steps), (reference) => {
      const { resource } = surroundings.resolve(reference);
      return resource === undefined ? undefined : test(bareValue(resource), surroundings);
    });
}

function plainTest(
  slice: ProfileNode,
  type: string,
  steps: readonly string[],
  profiles: ProfileTrees,
): SliceTest | undefined {
  switch (type) {
    case 'value':
    case 'pattern':
      return valueTest(slice, steps) ?? bindingTest(slice, steps, profiles);
    case 'exists':
      return existsTest(slice, steps);
    case 'type':
      return typeTest(slice, steps);
    default:
      return undefined;
  }
}

function valueTest(slice: ProfileNode, steps: readonly string[]): SliceTest | undefined {
  // A slice of extensions may name only the profile of the extension. That profile states the url.
  const [url] = steps.length === 1 && steps[0] === 'url' ? profilesOf(slice) : [];
  const expected = url === undefined ? expectedAt(slice, steps) : { value: url };
  if (expected === undefined) return undefined;
  return ({ value }) => reach(value, steps).some((found) => matchesPattern(found, expected.value));
}

/** Tests the codes of a required binding. Like a fixed value, such a binding can tell slices apart. */
function bindingTest(slice: ProfileNode, steps: readonly string[], profiles: ProfileTrees): SliceTest | undefined {
  const bound = nodeAt(slice, steps)?.constraints.findLast(({ requiredValueSet }) => requiredValueSet !== undefined);
  const codes = bound?.requiredValueSet === undefined ? undefined : profiles.sources.codes(bound.requiredValueSet);
  if (codes === undefined) return undefined;
  return ({ value }) => reach(value, steps).some((found) => codes.holds(found));
}

function existsTest(slice: ProfileNode, steps: readonly string[]): SliceTest | undefined {
  const constraints = nodeAt(slice, steps)?.constraints ?? [];
  const isForbidden = constraints.some(({ max }) => max === 0);
  if (!isForbidden && !constraints.some(({ min = 0 }) => min > 0)) return undefined;
  return ({ value }) => reach(value, steps).length > 0 !== isForbidden;
}

function typeTest(slice: ProfileNode, steps: readonly string[]): SliceTest | undefined {
  const types = (nodeAt(slice, steps)?.constraints ?? [])
    .flatMap((constraint) => constraint.types)
    .map(({ code }) => code);
  if (types.length === 0) return undefined;
  return (item) => {
    const [found] = steps.length === 0 ? [item] : elementsAt(item.value, steps);
    if (found === undefined) return false;
    const named =
      isObject(found.value) && typeof found.value.resourceType === 'string' ? found.value.resourceType : undefined;
    const type = found.choiceType ?? named ?? '';
    return types.some((code) => code === type || capitalized(code) === type);
  };
}

/**
 * Tests the type of a reference's target. If the target is stored elsewhere, the text of the reference shows its type.
 */
function targetTypeTest(
  targets: readonly string[],
  steps: readonly string[],
  profiles: ProfileTrees,
): SliceTest | undefined {
  const types = targets.map((canonical) => typeOfCanonical(canonical) ?? profiles.sources.profile(canonical)?.type);
  if (types.length === 0 || types.includes(undefined)) return undefined;
  return ({ value }, surroundings) =>
    anyHolds(reach(value, steps), (reference) => {
      const { type } = surroundings.resolve(reference);
      return type === undefined ? undefined : types.includes(type);
    });
}

/**
 * Tests whether a resource conforms to a profile that the slice names. The tested resource is the one at the path, or
 * the target of the reference at the path.
 */
function profileTest(slice: ProfileNode, { steps, behind }: Way): SliceTest | undefined {
  const node = nodeAt(slice, steps);
  const canonicals = behind === undefined ? profilesOf(node) : targetProfilesOf(node);
  if (canonicals.length === 0) return undefined;
  return ({ value }, surroundings) =>
    anyHolds(reach(value, steps), (found) => {
      const resource = behind === undefined ? found : surroundings.resolve(found).resource;
      if (!isObject(resource)) return undefined;
      return anyHolds(canonicals, (canonical) => surroundings.conforms(resource, canonical));
    });
}

/** True if the test is true for one item. If it is true for none but undecided for some, the result is undefined. */
function anyHolds<T>(items: readonly T[], test: (item: T) => boolean | undefined): boolean | undefined {
  let answer: boolean | undefined = false;
  for (const item of items) {
    const one = test(item);
    if (one === true) return true;
    if (one === undefined) answer = undefined;
  }
  return answer;
}

function profilesOf(node: ProfileNode | undefined): readonly string[] {
  return (node?.constraints ?? [])
    .flatMap(({ types }) => types)
    .flatMap(({ profiles }) => profiles)
    .map((url) => url.replace(/\|.*/, ''));
}

function targetProfilesOf(node: ProfileNode | undefined): readonly string[] {
  const stated = (node?.constraints ?? []).map(({ types }) => types.flatMap(({ targetProfiles }) => targetProfiles));
  return stated.findLast((targets) => targets.length > 0) ?? [];
}

/**
 * The fixed value or pattern that the slice states at a path. It may be a part of a value that is stated for a parent.
 */
function expectedAt(slice: ProfileNode, steps: readonly string[]): { readonly value: unknown } | undefined {
  for (let depth = steps.length; depth >= 0; depth -= 1) {
    for (const { fixed, pattern } of nodeAt(slice, steps.slice(0, depth))?.constraints ?? []) {
      const stated = fixed ?? pattern;
      if (stated === undefined) continue;
      const [part] = reach(stated.value, steps.slice(depth));
      if (part !== undefined) return { value: part };
    }
  }
  return undefined;
}

function nodeAt(slice: ProfileNode, steps: readonly string[]): ProfileNode | undefined {
  let node: ProfileNode | undefined = slice;
  for (const step of steps) node = node?.children.get(step) ?? node?.children.get(`${step}[x]`);
  return node;
}

const reach = (value: unknown, steps: readonly string[]): readonly unknown[] =>
  steps.length === 0 ? [value] : elementsAt(value, steps).map((found) => found.value);

function elementsAt(value: unknown, steps: readonly string[]): readonly ElementValue[] {
  let found: readonly ElementValue[] = [bareValue(value)];
  for (const step of steps)
    found = found.flatMap((owner) => {
      const plain = valuesOfElement(owner.value, step);
      return plain.length > 0 ? plain : valuesOfElement(owner.value, `${step}[x]`);
    });
  return found;
}
