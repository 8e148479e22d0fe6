import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { isSubtype } from '../../fhir/definitions';
import { type Resource } from '../../fhir/types';
import { type CodeSet } from '../../fhir/validation/binding-check';
import { codesOfR4, listedCodesOf } from '../../fhir/validation/profile/listed-codes';
import { isCoreType, typeOfCanonical } from '../../fhir/validation/profile/element-constraints';
import { type PlacedResource, placesIn } from '../../fhir/validation/profile/placed-resource';
import { type ProfileSources, ProfileValidator } from '../../fhir/validation/profile/profile-validator';
import { storedProfileOf, type StoredProfile } from '../../fhir/validation/profile/stored-profile';
import { printPath } from '../../fhir/validation/validation-run';
import { CachedRegistry, RegistryEpoch } from '../../platform/database/registry-epoch';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type ErrorIssue } from '../../platform/errors/service-error';
import { withinTime } from '../../platform/time/within-time';
import { ResourceRules } from '../resource-rule.registry';
import { StoredDefinitions } from './stored-definitions';

/** A resource of many profiles, or a profile of many extensions; what goes beyond is not looked up. */
const MAX_PROFILES = 200;
/** Others are served after this time: a Bundle may hold thousands of resources. */
const SLICE_MILLISECONDS = 20;
/** One resource by one profile takes some 0.1 to 5 ms. Nobody is served meanwhile. */
const MAX_MILLISECONDS_AT_ONCE = 1_000;
const MAX_MILLISECONDS = 5_000;
const MAX_ISSUES = 100;

/** What is known of the stored definitions at one epoch: loaded when first asked for, absent ones included. */
class KnownDefinitions {
  private readonly profiles = new Map<string, Promise<StoredProfile | undefined>>();
  private readonly valueSets = new Map<string, Promise<CodeSet | undefined>>();

  constructor(private readonly definitions: StoredDefinitions) {}

  profile(canonical: string): Promise<StoredProfile | undefined> {
    return once(this.profiles, canonical, async () =>
      storedProfileOf(await this.definitions.find('StructureDefinition', canonical)),
    );
  }

  codes(canonical: string): Promise<CodeSet | undefined> {
    const [url = ''] = canonical.split('|');
    return once(
      this.valueSets,
      canonical,
      async () => listedCodesOf(url, await this.definitions.find('ValueSet', canonical)) ?? codesOfR4(url),
    );
  }
}

/** Validates resources by the profiles that are stored here as StructureDefinitions. */
@Injectable()
export class ProfileValidation {
  private readonly known: CachedRegistry<KnownDefinitions>;

  constructor(
    epoch: RegistryEpoch,
    unitOfWork: UnitOfWork,
    definitions: StoredDefinitions,
    private readonly rules: ResourceRules,
  ) {
    this.known = new CachedRegistry(epoch, unitOfWork, () => Promise.resolve(new KnownDefinitions(definitions)));
  }

  /**
   * Issues by the profiles that `meta.profile` names, also of contained resources and of those in a Bundle or Parameters, and
   * by `more`. A profile that is not stored here is a warning, unless the rule of the type checks it.
   * @param more canonicals of profiles that the caller names for the resource itself
   */
  async issuesOf(resource: Resource, more: readonly string[] = []): Promise<readonly ErrorIssue[]> {
    const rule = this.rules.of(resource.resourceType);
    const asked = placesIn(resource).flatMap((place, index) =>
      [...new Set([...canonicalsOf(place.resource), ...(index === 0 ? more : [])])].map((canonical) => ({
        place,
        canonical,
        isNominated: more.includes(canonical),
        isOfRule: index === 0 && rule?.checksProfile?.(canonical) === true,
      })),
    );
    if (asked.length === 0) return [];
    const sources = await this.gather(
      await this.known.get(),
      asked.map(({ canonical }) => canonical),
    );
    return validateInSlices(asked, sources);
  }

  /** Loads profiles, their bases, the profiles of their types and their value sets, so that validating needs no database. */
  private async gather(known: KnownDefinitions, canonicals: readonly string[]): Promise<GatheredDefinitions> {
    const gathered = new GatheredDefinitions();
    // A set grows while it is walked.
    const pending = new Set(canonicals);
    for (const canonical of pending) {
      if (gathered.profiles.has(canonical) || gathered.profiles.size >= MAX_PROFILES) continue;
      const profile = await known.profile(canonical);
      gathered.profiles.set(canonical, profile);
      if (profile === undefined) continue;
      if (profile.base !== undefined && !profile.hasSnapshot && !isCoreType(profile.base)) pending.add(profile.base);
      const asksTargets = asksForTargets(profile);
      for (const { types, requiredValueSet } of profile.elements) {
        for (const { profiles, targetProfiles } of types) {
          for (const other of asksTargets ? [...profiles, ...targetProfiles] : profiles) {
            if (!isCoreType(other)) pending.add(other);
          }
        }
        if (requiredValueSet === undefined || gathered.valueSets.has(requiredValueSet)) continue;
        gathered.valueSets.set(requiredValueSet, await known.codes(requiredValueSet));
      }
    }
    return gathered;
  }
}

interface AskedProfile {
  readonly place: PlacedResource;
  readonly canonical: string;
  /** Who names a profile for `$validate` must be told when it cannot be checked. */
  readonly isNominated: boolean;
  /** The rule of the type checks it; a StructureDefinition would come on top. */
  readonly isOfRule: boolean;
}

async function validateInSlices(asked: readonly AskedProfile[], sources: ProfileSources): Promise<ErrorIssue[]> {
  const issues: ErrorIssue[] = [];
  const validator = new ProfileValidator(sources);
  const end = performance.now() + MAX_MILLISECONDS;
  let next = 0;
  while (next < asked.length && issues.length < MAX_ISSUES) {
    const sliceEnd = performance.now() + SLICE_MILLISECONDS;
    const isInTime = withinTime(MAX_MILLISECONDS_AT_ONCE, () => {
      for (let one = asked[next]; one !== undefined && performance.now() < sliceEnd; one = asked[next]) {
        issues.push(...issuesBy(one, sources.profile(one.canonical), validator));
        next += 1;
      }
      return true;
    });
    const pending = asked[next];
    if (pending === undefined) break;
    if (isInTime === undefined || performance.now() > end) return [...issues, tooCostly(pending)];
    await setImmediate();
  }
  return issues;
}

function issuesBy(
  asked: AskedProfile,
  profile: StoredProfile | undefined,
  validator: ProfileValidator,
): readonly ErrorIssue[] {
  if (profile !== undefined) return validator.validate(asked.place, profile);
  // A type of R4 is no profile that has to be stored: every resource is validated by its own.
  const type = typeOfCanonical(asked.canonical.replace(/\|.*/, ''));
  if (type === undefined) return asked.isOfRule ? [] : [unknownProfile(asked)];
  return isSubtype(String(asked.place.resource.resourceType), type) ? [] : [otherType(asked, type)];
}

function canonicalsOf({ meta }: PlacedResource['resource']): readonly string[] {
  const named: unknown = (meta as Resource['meta'])?.profile;
  return Array.isArray(named) ? (named as readonly unknown[]).filter((text) => typeof text === 'string') : [];
}

/** Slices that ask what a reference points at need the profiles of the targets. */
function asksForTargets({ elements }: StoredProfile): boolean {
  const discriminators = elements.flatMap(({ slicing }) => slicing?.discriminators ?? []);
  return discriminators.some(({ path }) => path.includes('resolve()'));
}

class GatheredDefinitions {
  readonly profiles = new Map<string, StoredProfile | undefined>();
  readonly valueSets = new Map<string, CodeSet | undefined>();

  profile(canonical: string): StoredProfile | undefined {
    return this.profiles.get(canonical);
  }

  codes(canonical: string): CodeSet | undefined {
    return this.valueSets.get(canonical);
  }
}

async function once<T>(kept: Map<string, Promise<T>>, key: string, load: () => Promise<T>): Promise<T> {
  const found = kept.get(key) ?? load();
  kept.set(key, found);
  try {
    return await found;
  } catch (error) {
    kept.delete(key);
    throw error;
  }
}

const unknownProfile = ({ place, canonical, isNominated }: AskedProfile): ErrorIssue => ({
  severity: isNominated ? 'error' : 'warning',
  code: 'not-found',
  diagnostics: `The profile ${canonical.slice(0, 200)} is not stored here, so it is not checked. Store its StructureDefinition to have it checked.`,
  expression: `${printPath(place.path)}.meta.profile`,
});

const otherType = ({ place, canonical }: AskedProfile, type: string): ErrorIssue => ({
  severity: 'error',
  code: 'structure',
  diagnostics: `The profile ${canonical} is for ${type}. Take it out of meta.profile.`,
  expression: `${printPath(place.path)}.meta.profile`,
});

const tooCostly = ({ place, canonical }: AskedProfile): ErrorIssue => ({
  severity: 'error',
  code: 'too-costly',
  diagnostics: `The profile ${canonical.slice(0, 200)} takes too long to check. Simplify its invariants, or send fewer resources at once.`,
  expression: `${printPath(place.path)}.meta.profile`,
});
