import { isDeepStrictEqual } from 'node:util';
import { type ErrorIssue } from '../../../platform/errors/service-error';
import { type CodeSet, codeCheck } from '../binding-check';
import { isObject, type Truth } from '../fhirpath/compiled';
import { ValidationRun } from '../validation-run';
import { type SliceProfiles, type SliceSurroundings, type SliceTest, sliceTestOf } from './discriminator';
import { checkCount, checkTarget, isCoreType, typeOfCanonical } from './element-constraints';
import { type ElementValue, matchesPattern, valuesOfElement } from './element-values';
import { type PlacedResource, resolveFrom } from './placed-resource';
import { isOfR4, profileInvariant } from './profile-invariant';
import { type ProfileNode, profileTreeOf } from './profile-tree';
import { type ElementConstraint, type Invariant, type Slicing, type StoredProfile } from './stored-profile';

/** What profiles refer to, as far as it is stored here. */
export interface ProfileSources {
  /** @param canonical a URL, with or without `|version` */
  profile(canonical: string): StoredProfile | undefined;
  /** The codes of a value set that is listed in full. */
  codes(canonical: string): CodeSet | undefined;
}

const EXTENSION_SLICING: Slicing = {
  discriminators: [{ type: 'value', path: 'url' }],
  rules: 'open',
  isOrdered: false,
};
const MAX_BASES = 16;
/** Slices that ask whether a resource conforms to a profile whose slices ask the same. */
const MAX_DEPTH = 3;

interface TestedSlice {
  readonly name: string;
  readonly slice: ProfileNode;
  /** Undefined when a discriminator can never be told. */
  readonly test: SliceTest | undefined;
}

/** Validates a resource by one stored profile, beyond what its type demands anyway (http://hl7.org/fhir/R4/profiling.html). */
export class ProfileValidator {
  private readonly trees = new Map<StoredProfile, ProfileNode>();
  private readonly slices = new Map<ProfileNode, readonly TestedSlice[]>();
  private place: PlacedResource | undefined;
  private depth = 0;
  private readonly invariants = new Map<Invariant, Truth | undefined>();

  constructor(private readonly sources: ProfileSources) {}

  /** Issues of the resource by the profile; what could not be checked is a warning. */
  validate(place: PlacedResource, profile: StoredProfile): readonly ErrorIssue[] {
    const run = new ValidationRun();
    for (const step of place.path) run.enter(step);
    if (profile.type === place.resource.resourceType) this.checkResource(place, profile, run);
    else run.report('structure', `The profile ${profile.url} is for ${profile.type}. Take it out of meta.profile.`);
    return run.issues;
  }

  private checkResource(place: PlacedResource, profile: StoredProfile, run: ValidationRun): void {
    const { resource, container } = place;
    const outer = this.place;
    this.place = place;
    const check = (): void => {
      this.checkNode(
        this.treeOf(profile),
        { value: resource, choiceType: undefined, index: undefined },
        run,
        profile.url,
      );
    };
    run.inScopeOf(container, () => {
      if (container === resource) check();
      else run.inContained(resource, check);
    });
    this.place = outer;
  }

  /** What slices ask beyond their values. */
  private readonly surroundings: SliceSurroundings = {
    resolve: (reference) => (this.place === undefined ? {} : resolveFrom(this.place, reference)),
    conforms: (resource, canonical) => {
      const core = typeOfCanonical(canonical);
      if (core !== undefined) return resource.resourceType === core;
      const profile = this.sources.profile(canonical);
      if (profile === undefined || this.place === undefined || this.depth >= MAX_DEPTH) return undefined;
      if (profile.type !== resource.resourceType) return false;
      const run = new ValidationRun();
      this.depth += 1;
      this.checkResource({ ...this.place, resource, container: resource }, profile, run);
      this.depth -= 1;
      return run.issues.every(({ severity }) => severity !== 'error');
    },
  };

  private readonly sliceProfiles: SliceProfiles = {
    treeOf: (canonical) => {
      const profile = this.sources.profile(canonical);
      return profile === undefined ? undefined : this.treeOf(profile);
    },
    typeOf: (canonical) => this.sources.profile(canonical)?.type,
  };

  private treeOf(profile: StoredProfile): ProfileNode {
    const known = this.trees.get(profile) ?? profileTreeOf(profile.type, this.elementsOf(profile, MAX_BASES));
    this.trees.set(profile, known);
    return known;
  }

  /** A snapshot says everything; a differential comes on top of its base. */
  private elementsOf(profile: StoredProfile, basesLeft: number): readonly ElementConstraint[] {
    if (profile.hasSnapshot || profile.base === undefined || isCoreType(profile.base) || basesLeft === 0)
      return profile.elements;
    const base = this.sources.profile(profile.base);
    return base === undefined ? profile.elements : [...this.elementsOf(base, basesLeft - 1), ...profile.elements];
  }

  private checkNode(node: ProfileNode, item: ElementValue, run: ValidationRun, url: string): void {
    for (const constraint of node.constraints) this.checkConstraint(constraint, item, run, url);
    if (run.isFull) return;
    for (const child of node.children.values()) this.checkChild(child, item.value, run, url);
  }

  private checkChild(child: ProfileNode, owner: unknown, run: ValidationRun, url: string): void {
    const name = child.name.replace('[x]', '');
    const values = valuesOfElement(owner, child.name);
    run.enter(name);
    checkCount(child.constraints, values.length, `"${name}"`, run, url);
    this.checkSlices(child, values, run, url);
    for (const item of values) {
      if (item.index !== undefined) run.enter(item.index);
      this.checkNode(child, item, run, url);
      if (item.index !== undefined) run.leave();
    }
    run.leave();
  }

  private checkSlices(node: ProfileNode, values: readonly ElementValue[], run: ValidationRun, url: string): void {
    if (node.slices.size === 0) return;
    const slicing = slicingOf(node);
    if (slicing === undefined) return;
    const tests = this.testsOf(node, slicing);
    const positions = values.map((item) => this.positionOf(item, tests));
    if (tests.some(({ test }) => test === undefined) || positions.includes(undefined)) {
      run.report(
        'informational',
        `${url}: the slices of this element are not checked; their discriminator needs more than is at hand.`,
        'warning',
      );
      return;
    }
    const counts = new Map<string, number>();
    let lastSlice = -1;
    for (const [at, item] of values.entries()) {
      const position = positions[at] ?? -1;
      const found = tests[position];
      if (item.index !== undefined) run.enter(item.index);
      if (found !== undefined) {
        counts.set(found.name, (counts.get(found.name) ?? 0) + 1);
        if (slicing.isOrdered && position < lastSlice)
          run.report('structure', `${url}: "${found.name}" must come earlier; the slices are ordered.`);
        if (slicing.rules === 'openAtEnd' && lastSlice === tests.length)
          run.report('structure', `${url}: "${found.name}" must come before what belongs to no slice.`);
        lastSlice = Math.max(lastSlice, position);
        this.checkNode(found.slice, item, run, url);
      } else {
        if (slicing.rules === 'closed')
          run.report(
            'structure',
            `${url}: it is none of ${tests.map(({ name }) => name).join(', ')}, and others are not allowed.`,
          );
        if (slicing.rules === 'openAtEnd') lastSlice = tests.length;
      }
      if (item.index !== undefined) run.leave();
    }
    for (const { name, slice } of tests) checkCount(slice.constraints, counts.get(name) ?? 0, `"${name}"`, run, url);
  }

  private testsOf(node: ProfileNode, slicing: Slicing): readonly TestedSlice[] {
    const known = this.slices.get(node);
    if (known !== undefined) return known;
    const tests = [...node.slices].map(([name, slice]) => ({
      name,
      slice,
      test: sliceTestOf(slice, slicing, this.sliceProfiles),
    }));
    this.slices.set(node, tests);
    return tests;
  }

  /** Which slice a value belongs to, -1 for none; undefined where that cannot be told. */
  private positionOf(item: ElementValue, tests: readonly TestedSlice[]): number | undefined {
    for (const [position, { test }] of tests.entries()) {
      const answer = test?.(item, this.surroundings);
      if (answer !== false) return answer === true ? position : undefined;
    }
    return -1;
  }

  private checkConstraint(constraint: ElementConstraint, item: ElementValue, run: ValidationRun, url: string): void {
    const { fixed, pattern } = constraint;
    if (fixed !== undefined && !isDeepStrictEqual(item.value, fixed.value)) {
      run.report('value', `${url}: it must be exactly ${shown(fixed.value)}.`);
    }
    if (pattern !== undefined && !matchesPattern(item.value, pattern.value)) {
      run.report('value', `${url}: it must hold at least ${shown(pattern.value)}.`);
    }
    // Of another type than it may have, its code means nothing.
    if (this.checkTypes(constraint, item, run, url)) this.checkBinding(constraint, item, run, url);
    for (const invariant of constraint.invariants) this.checkInvariant(invariant, constraint.path, item.value, run);
  }

  private checkTypes({ types, path }: ElementConstraint, item: ElementValue, run: ValidationRun, url: string): boolean {
    if (types.length === 0 || !path.includes('.')) return true;
    const fitting = types.filter(
      ({ code }) =>
        item.choiceType === undefined || item.choiceType === `${code.charAt(0).toUpperCase()}${code.slice(1)}`,
    );
    if (fitting.length === 0) {
      run.report(
        'structure',
        `${url}: its type must be ${types.map(({ code }) => code).join(' or ')}, not ${item.choiceType ?? ''}.`,
      );
      return false;
    }
    const [only] = fitting;
    if (only === undefined || fitting.length > 1) return true;
    if (only.code === 'Reference') checkTarget(only.targetProfiles, item.value, run, url);
    if (only.profiles.length !== 1 || !isObject(item.value)) return true;
    // A datatype or extension profile: what it demands holds at this place.
    const profile = this.sources.profile(only.profiles[0] ?? '');
    if (profile !== undefined)
      this.checkNode(this.treeOf(profile), { ...item, choiceType: undefined }, run, profile.url);
    return true;
  }

  private checkBinding(
    { requiredValueSet }: ElementConstraint,
    { value, choiceType }: ElementValue,
    run: ValidationRun,
    url: string,
  ): void {
    if (requiredValueSet === undefined || value === undefined || value === null) return;
    const set = this.sources.codes(requiredValueSet);
    if (set === undefined) {
      run.report(
        'informational',
        `${url}: the code is not checked; ${requiredValueSet} is not stored here, or not listed in full.`,
        'warning',
      );
      return;
    }
    codeCheck(set, bindableTypeOf(value, choiceType))?.(value, run);
  }

  private checkInvariant(invariant: Invariant, path: string, value: unknown, run: ValidationRun): void {
    if (isOfR4(invariant)) return;
    if (!this.invariants.has(invariant)) this.invariants.set(invariant, profileInvariant(invariant, path));
    const truth = this.invariants.get(invariant);
    if (truth === undefined) {
      run.report('informational', `${invariant.key} is not checked: it cannot be evaluated here.`, 'warning');
    } else if (truth(value, { resource: run.resource, rootResource: run.rootResource, context: value }) === false) {
      run.report('invariant', `${invariant.key}: ${invariant.human}`, invariant.severity);
    }
  }
}

function slicingOf({ name, constraints }: ProfileNode): Slicing | undefined {
  const stated = constraints.findLast(({ slicing }) => slicing !== undefined)?.slicing;
  if (stated !== undefined) return stated;
  if (name === 'extension' || name === 'modifierExtension') return EXTENSION_SLICING;
  return name.endsWith('[x]')
    ? { discriminators: [{ type: 'type', path: '$this' }], rules: 'open', isOrdered: false }
    : undefined;
}

function bindableTypeOf(value: unknown, choiceType: string | undefined): string {
  if (typeof value === 'string') return 'code';
  if (choiceType !== undefined) return choiceType;
  if (isObject(value) && ('coding' in value || 'text' in value)) return 'CodeableConcept';
  return 'Coding';
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 300);
}
