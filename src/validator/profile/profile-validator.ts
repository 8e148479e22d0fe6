import { type ErrorIssue } from '../../platform/errors/service-error';
import { atOnce, type Steps } from '../../platform/time/steps';
import { isSubtype, typeOfCanonical } from '../../fhir/definitions/definitions';
import { isObject, type PlainObject } from '../../platform/json/plain-object';
import { memoized } from '../../platform/memoized';
import { ValidationRun } from '../r4/validation-run';
import { ConstraintCheck } from './constraint-check';
import { type SliceSurroundings, sliceTestOf } from './discriminator';
import { bareValue, type ElementValue, valuesOfElement } from './element-values';
import { type PlacedResource, placesFrom, resolveFrom } from './placed-resource';
import { ProfileRun } from './profile-run';
import { type ProfileNode } from './profile-tree';
import { ProfileTrees, type StoredSources } from './profile-trees';
import { checkCount, checkSlices, slicingOf, type TestedSlice } from './slice-check';
import { type ElementConstraint, type Slicing, type StoredProfile } from './stored-profile';
import { checkTargetProfiles, fittingTypesOf, resourceTypeOf } from './type-constraints';
import { type Measures } from './value-limits';

export type ProfileSources = StoredSources & Measures;

/** Maximum depth of tests whether a resource conforms to a profile, since its slices may require such a test too. */
const MAX_DEPTH = 3;

interface Outcome {
  readonly issues: readonly ErrorIssue[];
  isReported: boolean;
}

/**
 * Validates a resource by one stored profile, in addition to the rules of its type
 * (http://hl7.org/fhir/R4/profiling.html). It runs in steps; the longest step is one invariant.
 */
export class ProfileValidator {
  private readonly trees: ProfileTrees;
  private readonly constraints: ConstraintCheck;
  private readonly slices = new Map<ProfileNode, readonly TestedSlice[]>();
  private place: PlacedResource | undefined;
  /** The resources inside the validated resource, collected when a profile needs them. */
  private places: ReadonlyMap<PlainObject, PlacedResource> | undefined;
  /** The issues of each value by each profile: a value is checked once, even if several elements name the profile. */
  private outcomes = new Map<StoredProfile, Map<unknown, Outcome>>();
  /**
   * Whether a resource conforms to profiles, by the depth of the test and the canonical. It is tested once, whatever
   * the number of references to the resource.
   */
  private readonly conforming = memoized((_resource: PlainObject) => new Map<string, boolean>());
  private depth = 0;

  constructor(private readonly sources: ProfileSources) {
    this.trees = new ProfileTrees(sources);
    this.constraints = new ConstraintCheck(sources);
  }

  /** The issues of a resource by a profile. A rule that cannot be checked gives a warning. */
  *validate(place: PlacedResource, profile: StoredProfile): Steps<readonly ErrorIssue[]> {
    const run = this.runAt(place.path);
    if (profile.type === place.resource.resourceType) yield* this.checkResource(place, profile, run);
    else run.report('structure', `The profile ${profile.url} is for ${profile.type}. Take it out of meta.profile.`);
    return run.issues;
  }

  /** @param path path from the outermost resource to the extension */
  *validateExtension(
    place: PlacedResource,
    extension: unknown,
    path: PlacedResource['path'],
    definition: StoredProfile,
  ): Steps<readonly ErrorIssue[]> {
    const run = this.runAt(path);
    const check = this.checkNode(this.trees.of(definition), bareValue(extension), new ProfileRun(run, definition.url));
    yield* this.inPlace(place, run, check);
    return run.issues;
  }

  private runAt(path: PlacedResource['path']): ValidationRun {
    const run = new ValidationRun();
    for (const step of path) run.enter(step);
    this.outcomes = new Map();
    this.places = undefined;
    return run;
  }

  private checkResource(place: PlacedResource, profile: StoredProfile, run: ValidationRun): Steps<void> {
    const check = this.checkNode(this.trees.of(profile), bareValue(place.resource), new ProfileRun(run, profile.url));
    return this.inPlace(place, run, check);
  }

  private *inPlace(place: PlacedResource, run: ValidationRun, check: Steps<void>): Steps<void> {
    const { resource, container } = place;
    const outer = this.place;
    this.place = place;
    const rest = run.inScopeOf(container, () =>
      container === resource ? check : run.inContained(resource, () => check),
    );
    if (rest !== undefined) yield* rest;
    this.place = outer;
  }

  private readonly surroundings: SliceSurroundings = {
    resolve: (reference) => (this.place === undefined ? {} : resolveFrom(this.place, reference)),
    conforms: (resource, canonical) => {
      const core = typeOfCanonical(canonical);
      if (core !== undefined) return resource.resourceType === core;
      const profile = this.sources.profile(canonical);
      if (profile === undefined || this.place === undefined || this.depth >= MAX_DEPTH) return undefined;
      if (profile.type !== resource.resourceType) return false;
      const known = this.conforming(resource);
      const key = `${this.depth} ${canonical}`;
      const conforms = known.get(key) ?? this.conformsBy(profile, resource, this.place);
      known.set(key, conforms);
      return conforms;
    },
  };

  private conformsBy(profile: StoredProfile, resource: PlainObject, place: PlacedResource): boolean {
    const run = new ValidationRun();
    const { outcomes } = this;
    this.outcomes = new Map();
    this.depth += 1;
    atOnce(this.checkResource({ ...place, resource, container: resource }, profile, run));
    this.depth -= 1;
    this.outcomes = outcomes;
    return run.issues.every(({ severity }) => severity !== 'error');
  }

  private *checkNode(node: ProfileNode, item: ElementValue, at: ProfileRun): Steps<void> {
    for (const constraint of node.constraints) yield* this.checkConstraint(constraint, item, at);
    if (at.run.isFull) return;
    for (const child of node.children.values()) yield* this.checkChild(child, item.value, at);
    if (at.run.isDue()) yield;
  }

  private *checkChild(child: ProfileNode, owner: unknown, at: ProfileRun): Steps<void> {
    const { run } = at;
    const name = child.name.replace('[x]', '');
    const values = valuesOfElement(owner, child.name);
    run.enter(name);
    checkCount(child.constraints, values.length, `"${name}"`, at);
    yield* this.checkSlices(child, values, at);
    for (const item of values) {
      if (item.index !== undefined) run.enter(item.index);
      yield* this.checkNode(child, item, at);
      if (item.index !== undefined) run.leave();
    }
    run.leave();
  }

  private *checkSlices(node: ProfileNode, values: readonly ElementValue[], at: ProfileRun): Steps<void> {
    const slicing = node.slices.size === 0 ? undefined : slicingOf(node);
    if (slicing === undefined) return;
    const tests = this.testsOf(node, slicing);
    yield* checkSlices(slicing, tests, values, at, this.surroundings, (slice, item) => this.checkNode(slice, item, at));
  }

  private testsOf(node: ProfileNode, slicing: Slicing): readonly TestedSlice[] {
    const known =
      this.slices.get(node) ??
      [...node.slices].map(([name, slice]) => ({ name, slice, test: sliceTestOf(slice, slicing, this.trees) }));
    this.slices.set(node, known);
    return known;
  }

  private *checkConstraint(constraint: ElementConstraint, item: ElementValue, at: ProfileRun): Steps<void> {
    this.constraints.checkValue(constraint, item.value, at);
    // If the value has a wrong type, its code has no meaning, so the binding is not checked.
    if (yield* this.checkTypes(constraint, item, at)) this.constraints.checkBinding(constraint, item, at);
    for (const invariant of constraint.invariants) {
      this.constraints.checkInvariant(invariant, constraint.path, item.value, at.run);
      yield;
    }
  }

  private *checkTypes({ types, path }: ElementConstraint, item: ElementValue, at: ProfileRun): Steps<boolean> {
    if (types.length === 0 || !path.includes('.')) return true;
    const { actual, isFitting, profiles, targetProfiles } = fittingTypesOf(types, item);
    if (!isFitting) {
      const names = [...new Set(types.map(({ code }) => code))].join(' or ');
      at.report('structure', `its type must be ${names}, not ${actual ?? ''}.`);
      return false;
    }
    checkTargetProfiles(targetProfiles, item.value, at);
    if (isObject(item.value) && profiles.length > 0) yield* this.checkProfiles(profiles, item.value, at);
    return true;
  }

  /** Checks that a value conforms to one of the profiles that its type names. */
  private *checkProfiles(canonicals: readonly string[], value: PlainObject, at: ProfileRun): Steps<void> {
    const outcomes: Outcome[] = [];
    for (const canonical of canonicals) {
      const outcome = yield* this.outcomeOf(canonical, value, at.run);
      // There is nothing to check by this profile: it is not stored, or is an R4 type. The value is accepted.
      if (outcome === undefined) return;
      outcomes.push(outcome);
    }
    const fitting = outcomes.find(({ issues }) => issues.every(({ severity }) => severity !== 'error'));
    const [only] = outcomes;
    if (fitting === undefined && outcomes.length > 1) {
      const first = only?.issues.find(({ severity }) => severity === 'error')?.diagnostics ?? '';
      at.report('structure', `it conforms to none of ${canonicals.join(', ')}. Of the first: ${first}`);
      return;
    }
    const reported = fitting ?? only;
    if (reported === undefined || reported.isReported) return;
    reported.isReported = true;
    at.run.add(reported.issues);
  }

  private *outcomeOf(canonical: string, value: PlainObject, run: ValidationRun): Steps<Outcome | undefined> {
    const core = typeOfCanonical(canonical);
    const type = resourceTypeOf(value);
    if (core !== undefined && type !== undefined && !isSubtype(type, core)) {
      const issues = yield* run.collect(reporting(run, `${canonical}: it must be a ${core}.`));
      return { issues, isReported: false };
    }
    const profile = core === undefined ? this.sources.profile(canonical) : undefined;
    if (profile === undefined) return undefined;
    const ofProfile = this.outcomes.get(profile) ?? new Map<unknown, Outcome>();
    this.outcomes.set(profile, ofProfile);
    const known = ofProfile.get(value);
    if (known !== undefined) return known;
    const issues = yield* run.collect(this.checkByProfile(profile, value, type, run));
    const outcome = { issues, isReported: false };
    ofProfile.set(value, outcome);
    return outcome;
  }

  private checkByProfile(
    profile: StoredProfile,
    value: PlainObject,
    type: string | undefined,
    run: ValidationRun,
  ): Steps<void> {
    const at = new ProfileRun(run, profile.url);
    if (type === undefined) return this.checkNode(this.trees.of(profile), bareValue(value), at);
    if (type !== profile.type) return reporting(run, `${profile.url}: it must be a ${profile.type}, not ${type}.`);
    return this.checkResource(this.placeOf(value), profile, run);
  }

  private placeOf(resource: PlainObject): PlacedResource {
    const around = this.place;
    if (around === undefined) throw new Error('a profile is checked outside of a resource');
    this.places ??= new Map(placesFrom(around).map((place) => [place.resource, place]));
    return this.places.get(resource) ?? { ...around, resource, container: resource };
  }
}

function* reporting(run: ValidationRun, diagnostics: string): Steps<void> {
  run.report('structure', diagnostics);
  yield;
}
