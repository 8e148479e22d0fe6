import { isObject } from '../fhirpath/compiled';
import { type ElementValue, matchesPattern, valuesOfElement } from './element-values';
import { type ProfileNode } from './profile-tree';
import { type Slicing } from './stored-profile';

/** Whether a value belongs to a slice; undefined where this server cannot tell. */
export type SliceTest = (value: ElementValue) => boolean;

/**
 * Compiles the discriminators of a slicing for one slice (http://hl7.org/fhir/R4/profiling.html#discriminator).
 * @returns undefined when one of them cannot be told from the value alone
 */
export function sliceTestOf(slice: ProfileNode, { discriminators }: Slicing): SliceTest | undefined {
  const tests: SliceTest[] = [];
  for (const { type, path } of discriminators) {
    const test = discriminatorTest(slice, type, path);
    if (test === undefined) return undefined;
    tests.push(test);
  }
  return tests.length === 0 ? undefined : (value) => tests.every((test) => test(value));
}

function discriminatorTest(slice: ProfileNode, type: string, path: string): SliceTest | undefined {
  const steps = path === '$this' ? [] : path.split('.');
  if (steps.some((step) => !/^[A-Za-z]+(\[x\])?$/.test(step))) return undefined;
  switch (type) {
    case 'value':
    case 'pattern':
      return valueTest(slice, steps);
    case 'exists':
      return existsTest(slice, steps);
    case 'type':
      return typeTest(slice, steps);
    default:
      return undefined;
  }
}

function valueTest(slice: ProfileNode, steps: readonly string[]): SliceTest | undefined {
  // The url of an extension is stated by the extension's own profile.
  const [url] = steps.length === 1 && steps[0] === 'url' ? profilesOf(slice) : [];
  const expected = url === undefined ? expectedAt(slice, steps) : { value: url };
  if (expected === undefined) return undefined;
  return ({ value }) => reach(value, steps).some((found) => matchesPattern(found, expected.value));
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
    return types.some((code) => code === type || `${code.charAt(0).toUpperCase()}${code.slice(1)}` === type);
  };
}

/** Profiles of the slice's types, without versions. */
function profilesOf({ constraints }: ProfileNode): readonly string[] {
  return constraints
    .flatMap(({ types }) => types)
    .flatMap(({ profiles }) => profiles)
    .map((url) => url.replace(/\|.*/, ''));
}

/** The fixed value or pattern that the slice states at a path, or a part of one that it states above it. */
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

function reach(value: unknown, steps: readonly string[]): readonly unknown[] {
  return steps.length === 0 ? [value] : elementsAt(value, steps).map((found) => found.value);
}

function elementsAt(value: unknown, steps: readonly string[]): readonly ElementValue[] {
  let found: readonly ElementValue[] = [{ value, choiceType: undefined, index: undefined }];
  for (const step of steps) {
    found = found.flatMap((owner) => {
      const plain = valuesOfElement(owner.value, step);
      return plain.length > 0 ? plain : valuesOfElement(owner.value, `${step}[x]`);
    });
  }
  return found;
}
