import { type Steps } from '../../platform/time/steps';
import { type SliceSurroundings, type SliceTest } from './discriminator';
import { type ElementValue } from './element-values';
import { type ProfileRun } from './profile-run';
import { type ProfileNode } from './profile-tree';
import { type ElementConstraint, type Slicing } from './stored-profile';

export interface TestedSlice {
  readonly name: string;
  readonly slice: ProfileNode;
  readonly test: SliceTest;
}

const openSlicing = (type: string, path: string): Slicing => ({
  discriminators: [{ type, path }],
  rules: 'open',
  isOrdered: false,
});
const BY_URL = openSlicing('value', 'url');
const BY_TYPE = openSlicing('type', '$this');

/** The slicing that the profile states. Without one, extensions are sliced by url and choices by type. */
export function slicingOf({ name, constraints }: ProfileNode): Slicing | undefined {
  const stated = constraints.findLast(({ slicing }) => slicing !== undefined)?.slicing;
  if (stated !== undefined) return stated;
  if (name === 'extension' || name === 'modifierExtension') return BY_URL;
  return name.endsWith('[x]') ? BY_TYPE : undefined;
}

/**
 * Assigns the values of an element to its slices, and checks each value by its slice. Then it checks the order and the
 * counts (http://hl7.org/fhir/R4/profiling.html#slicing). If the test of one slice is undecided, the other slices are
 * still checked.
 */
export function* checkSlices(
  slicing: Slicing,
  tests: readonly TestedSlice[],
  values: readonly ElementValue[],
  at: ProfileRun,
  surroundings: SliceSurroundings,
  checkNode: (slice: ProfileNode, item: ElementValue) => Steps<void>,
): Steps<void> {
  const { run } = at;
  const counts = new Map<string, number>();
  const undecided = new Set<string>();
  let lastSlice = -1;
  for (const item of values) {
    if (run.isDue()) yield;
    const answers = tests.map(({ test }) => test(item, surroundings));
    const position = answers.indexOf(true);
    const found = tests[position];
    if (found === undefined && answers.includes(undefined)) {
      for (const [index, { name }] of tests.entries()) if (answers[index] === undefined) undecided.add(name);
      continue;
    }
    if (item.index !== undefined) run.enter(item.index);
    if (found !== undefined) {
      counts.set(found.name, (counts.get(found.name) ?? 0) + 1);
      if (slicing.isOrdered && position < lastSlice)
        at.report('structure', `"${found.name}" must come earlier; the slices are ordered.`);
      if (slicing.rules === 'openAtEnd' && lastSlice === tests.length)
        at.report('structure', `"${found.name}" must come before what belongs to no slice.`);
      lastSlice = Math.max(lastSlice, position);
      yield* checkNode(found.slice, item);
    } else {
      const names = tests.map(({ name }) => name).join(', ');
      if (slicing.rules === 'closed') at.report('structure', `it is none of ${names}, and others are not allowed.`);
      if (slicing.rules === 'openAtEnd') lastSlice = tests.length;
    }
    if (item.index !== undefined) run.leave();
  }
  for (const { name, slice } of tests) {
    if (!undecided.has(name)) checkCount(slice.constraints, counts.get(name) ?? 0, `"${name}"`, at);
  }
  if (undecided.size > 0)
    at.warn(
      `whether values belong to ${[...undecided].join(', ')} is not checked; the discriminator needs more than is stored here.`,
    );
}

/** Reports an element or slice that occurs too rarely or too often. */
export function checkCount(
  constraints: readonly ElementConstraint[],
  count: number,
  name: string,
  at: ProfileRun,
): void {
  const min = Math.max(0, ...constraints.map((constraint) => constraint.min ?? 0));
  const max = Math.min(Infinity, ...constraints.map((constraint) => constraint.max ?? Infinity));
  if (count < min) at.report('required', `${name} must occur at least ${times(min)}, not ${count} times.`);
  if (count > max && max === 0) at.report('structure', `${name} is not allowed.`);
  else if (count > max) at.report('structure', `${name} may occur at most ${times(max)}, not ${count} times.`);
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
