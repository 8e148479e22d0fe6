import { isDeepStrictEqual } from 'node:util';
import { type ErrorIssue } from '../../../platform/errors/service-error';
import { isSubtype } from '../../definitions';
import { type CodeSet, codeCheck } from '../binding-check';
import { isObject } from '../../is-object';
import { ExpressionError, type Truth } from '../../../fhirpath/fhirpath';
import { ValidationRun } from '../validation-run';
import { type SliceProfiles, type SliceSurroundings, sliceTestOf } from './discriminator';
import { checkCount, checkTarget, isCoreType, typeOfCanonical } from './element-constraints';
import { type ElementValue, matchesPattern, valuesOfElement } from './element-values';
import { type PlacedResource, placesFrom, resolveFrom, type ResourceValue } from './placed-resource';
import { isOfR4, profileInvariant } from './profile-invariant';
import { type ProfileNode, profileTreeOf } from './profile-tree';
import { checkSlices, type TestedSlice } from './slice-check';
import { type ElementConstraint, type Invariant, type Slicing, type StoredProfile } from './stored-profile';
import { fittingTypesOf, resourceTypeOf } from './type-constraints';
import { checkLimits, type Measures } from './value-limits';

/** What profiles refer to, as far as it is stored here. */
export interface ProfileSources extends Measures {
  /**
   * The same object at each call.
   * @param canonical a URL, with or without `|version`
   */
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

/** What one profile says of one value. */
interface Outcome {
  readonly issues: readonly ErrorIssue[];
  isReported: boolean;
}

/** Validates a resource by one stored profile, beyond what its type demands anyway (http://hl7.org/fhir/R4/profiling.html). */
export class ProfileValidator {
  private readonly trees = new Map<StoredProfile, ProfileNode>();
  private readonly slices = new Map<ProfileNode, readonly TestedSlice[]>();
  private place: PlacedResource | undefined;
  /** Resources inside of the one that is validated; found when a profile first asks for one. */
  private places: ReadonlyMap<ResourceValue, PlacedResource> | undefined;
  /** Each value is checked once by each profile, however many elements name the profile. */
  private outcomes = new Map<StoredProfile, Map<unknown, Outcome>>();
  private readonly conforming = new Map<string, boolean | undefined>();
  private readonly numbers = new Map<unknown, number>();
  private depth = 0;
  private readonly invariants = new Map<Invariant, Truth | ExpressionError>();

  constructor(private readonly sources: ProfileSources) {}

  /** Issues of the resource by the profile; what could not be checked is a warning. */
  validate(place: PlacedResource, profile: StoredProfile): readonly ErrorIssue[] {
    const run = this.runAt(place.path);
    if (profile.type === place.resource.resourceType) this.checkResource(place, profile, run);
    else run.report('structure', `The profile ${profile.url} is for ${profile.type}. Take it out of meta.profile.`);
    return run.issues;
  }

  /**
   * Issues of an extension by its definition.
   * @param path from the outermost resource to the extension
   */
  validateExtension(
    place: PlacedResource,
    extension: unknown,
    path: PlacedResource['path'],
    definition: StoredProfile,
  ): readonly ErrorIssue[] {
    const run = this.runAt(path);
    this.inPlace(place, run, () => {
      this.checkNode(this.treeOf(definition), plain(extension), run, definition.url);
    });
    return run.issues;
  }

  private runAt(path: PlacedResource['path']): ValidationRun {
    const run = new ValidationRun();
    for (const step of path) run.enter(step);
    this.outcomes = new Map();
    this.places = undefined;
    return run;
  }

  private checkResource(place: PlacedResource, profile: StoredProfile, run: ValidationRun): void {
    this.inPlace(place, run, () => {
      this.checkNode(this.treeOf(profile), plain(place.resource), run, profile.url);
    });
  }

  private inPlace(place: PlacedResource, run: ValidationRun, check: () => void): void {
    const { resource, container } = place;
    const outer = this.place;
    this.place = place;
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
      return this.conformsBy(profile, resource, this.place);
    },
  };

  /** Each resource is tried once by each profile at each depth, however many references point at it. */
  private conformsBy(profile: StoredProfile, resource: ResourceValue, place: PlacedResource): boolean {
    const key = `${this.depth} ${this.numberOf(profile)} ${this.numberOf(resource)}`;
    const known = this.conforming.get(key);
    if (known !== undefined) return known;
    const run = new ValidationRun();
    const { outcomes } = this;
    this.outcomes = new Map();
    this.depth += 1;
    this.checkResource({ ...place, resource, container: resource }, profile, run);
    this.depth -= 1;
    this.outcomes = outcomes;
    const conforms = run.issues.every(({ severity }) => severity !== 'error');
    this.conforming.set(key, conforms);
    return conforms;
  }

  private readonly sliceProfiles: SliceProfiles = {
    treeOf: (canonical) => {
      const profile = this.sources.profile(canonical);
      return profile === undefined ? undefined : this.treeOf(profile);
    },
    typeOf: (canonical) => this.sources.profile(canonical)?.type,
    codes: (canonical) => this.sources.codes(canonical),
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
    checkSlices(slicing, this.testsOf(node, slicing), values, run, {
      url,
      surroundings: this.surroundings,
      checkNode: (slice, item) => {
        this.checkNode(slice, item, run, url);
      },
    });
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

  private checkConstraint(constraint: ElementConstraint, item: ElementValue, run: ValidationRun, url: string): void {
    const { fixed, pattern } = constraint;
    if (fixed !== undefined && !isDeepStrictEqual(item.value, fixed.value)) {
      run.report('value', `${url}: it must be exactly ${shown(fixed.value)}.`);
    }
    if (pattern !== undefined && !matchesPattern(item.value, pattern.value)) {
      run.report('value', `${url}: it must hold at least ${shown(pattern.value)}.`);
    }
    checkLimits(constraint, item.value, run, url, this.sources);
    // Of another type than it may have, its code means nothing.
    if (this.checkTypes(constraint, item, run, url)) this.checkBinding(constraint, item, run, url);
    for (const invariant of constraint.invariants) this.checkInvariant(invariant, constraint.path, item.value, run);
  }

  private checkTypes({ types, path }: ElementConstraint, item: ElementValue, run: ValidationRun, url: string): boolean {
    if (types.length === 0 || !path.includes('.')) return true;
    const { actual, isFitting, profiles, targetProfiles } = fittingTypesOf(types, item);
    if (!isFitting) {
      const names = [...new Set(types.map(({ code }) => code))].join(' or ');
      run.report('structure', `${url}: its type must be ${names}, not ${actual ?? ''}.`);
      return false;
    }
    checkTarget(targetProfiles, item.value, run, url);
    if (isObject(item.value) && profiles.length > 0) this.checkProfiles(profiles, item.value, run, url);
    return true;
  }

  /** What a profile of a data type, extension or resource demands holds at this place; of several, one must be met. */
  private checkProfiles(canonicals: readonly string[], value: ResourceValue, run: ValidationRun, url: string): void {
    const outcomes: Outcome[] = [];
    for (const canonical of canonicals) {
      const outcome = this.outcomeOf(canonical, value, run);
      // One that is not stored, or is a type of R4, may be met.
      if (outcome === undefined) return;
      outcomes.push(outcome);
    }
    const fitting = outcomes.find(({ issues }) => issues.every(({ severity }) => severity !== 'error'));
    const [only] = outcomes;
    if (fitting === undefined && outcomes.length > 1) {
      const first = only?.issues.find(({ severity }) => severity === 'error')?.diagnostics ?? '';
      run.report('structure', `${url}: it conforms to none of ${canonicals.join(', ')}. Of the first: ${first}`);
      return;
    }
    const told = fitting ?? only;
    if (told === undefined || told.isReported) return;
    told.isReported = true;
    run.add(told.issues);
  }

  private outcomeOf(canonical: string, value: ResourceValue, run: ValidationRun): Outcome | undefined {
    const core = typeOfCanonical(canonical);
    const type = resourceTypeOf(value);
    if (core !== undefined && type !== undefined && !isSubtype(type, core)) return refusalOf(canonical, core, run);
    const profile = core === undefined ? this.sources.profile(canonical) : undefined;
    if (profile === undefined) return undefined;
    const ofProfile = this.outcomes.get(profile) ?? new Map<unknown, Outcome>();
    this.outcomes.set(profile, ofProfile);
    const known = ofProfile.get(value);
    if (known !== undefined) return known;
    const issues = run.collect(() => {
      this.checkByProfile(profile, value, type, run);
    });
    const outcome = { issues, isReported: false };
    ofProfile.set(value, outcome);
    return outcome;
  }

  private checkByProfile(
    profile: StoredProfile,
    value: ResourceValue,
    type: string | undefined,
    run: ValidationRun,
  ): void {
    if (type === undefined) this.checkNode(this.treeOf(profile), plain(value), run, profile.url);
    else if (type !== profile.type)
      run.report('structure', `${profile.url}: it must be a ${profile.type}, not ${type}.`);
    else this.checkResource(this.placeOf(value), profile, run);
  }

  private placeOf(resource: ResourceValue): PlacedResource {
    const around = this.place;
    if (around === undefined) throw new Error('a profile is checked outside of a resource');
    this.places ??= new Map(placesFrom(around).map((place) => [place.resource, place]));
    return this.places.get(resource) ?? { ...around, resource, container: resource };
  }

  private numberOf(thing: unknown): number {
    const known = this.numbers.get(thing) ?? this.numbers.size;
    this.numbers.set(thing, known);
    return known;
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
    const truth = this.invariants.get(invariant) ?? profileInvariant(invariant, path);
    this.invariants.set(invariant, truth);
    if (truth instanceof ExpressionError) {
      run.report(
        'informational',
        `${invariant.key} cannot be evaluated here. Its expression: ${truth.message}.`,
        'warning',
      );
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

const plain = (value: unknown): ElementValue => ({ value, choiceType: undefined, index: undefined });

function refusalOf(canonical: string, type: string, run: ValidationRun): Outcome {
  const issues = run.collect(() => {
    run.report('structure', `${canonical}: it must be a ${type}.`);
  });
  return { issues, isReported: false };
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
