import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { type CodeSet } from '../../fhir/validation/binding-check';
import { codesOfR4, listedCodesOf } from '../../fhir/validation/profile/listed-codes';
import { ProfileValidator } from '../../fhir/validation/profile/profile-validator';
import { storedProfileOf, type StoredProfile } from '../../fhir/validation/profile/stored-profile';
import { CachedRegistry, RegistryEpoch } from '../../platform/database/registry-epoch';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type ErrorIssue } from '../../platform/errors/service-error';
import { withinTime } from '../../platform/time/within-time';
import { StoredDefinitions } from './stored-definitions';

/** A resource of many profiles, or a profile of many extensions; what goes beyond is not looked up. */
const MAX_PROFILES = 200;
const MAX_PROFILE_MILLISECONDS = 500;

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

  constructor(epoch: RegistryEpoch, unitOfWork: UnitOfWork, definitions: StoredDefinitions) {
    this.known = new CachedRegistry(epoch, unitOfWork, () => Promise.resolve(new KnownDefinitions(definitions)));
  }

  /**
   * Issues by the profiles of `meta.profile` and by `more`. A profile that is not stored here is a warning.
   * @param more canonicals of profiles that the caller names
   */
  async issuesOf(resource: Resource, more: readonly string[] = []): Promise<readonly ErrorIssue[]> {
    const named: unknown = resource.meta?.profile;
    const texts = Array.isArray(named) ? (named as readonly unknown[]).filter((text) => typeof text === 'string') : [];
    const canonicals = [...new Set([...texts, ...more])].slice(0, MAX_PROFILES);
    if (canonicals.length === 0) return [];
    const known = await this.known.get();
    const sources = await this.gather(known, canonicals);
    return canonicals.flatMap((canonical) => {
      const profile = sources.profile(canonical);
      if (profile === undefined) return [unknownProfile(resource.resourceType, canonical)];
      const issues = withinTime(MAX_PROFILE_MILLISECONDS, () =>
        new ProfileValidator(sources).validate(resource, profile),
      );
      return issues ?? [tooCostly(resource.resourceType, canonical)];
    });
  }

  /** Loads profiles, their bases, the profiles of their types and their value sets, so that validating needs no database. */
  private async gather(known: KnownDefinitions, canonicals: readonly string[]): Promise<GatheredDefinitions> {
    const gathered = new GatheredDefinitions();
    const pending = [...canonicals];
    for (let canonical = pending.pop(); canonical !== undefined; canonical = pending.pop()) {
      if (gathered.profiles.has(canonical) || gathered.profiles.size >= MAX_PROFILES) continue;
      const profile = await known.profile(canonical);
      gathered.profiles.set(canonical, profile);
      if (profile === undefined) continue;
      if (profile.base !== undefined && !profile.hasSnapshot) pending.push(profile.base);
      for (const { types, requiredValueSet } of profile.elements) {
        pending.push(...types.flatMap((type) => type.profiles));
        if (requiredValueSet === undefined || gathered.valueSets.has(requiredValueSet)) continue;
        gathered.valueSets.set(requiredValueSet, await known.codes(requiredValueSet));
      }
    }
    return gathered;
  }
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

const unknownProfile = (type: string, canonical: string): ErrorIssue => ({
  severity: 'warning',
  code: 'not-found',
  diagnostics: `The profile ${canonical.slice(0, 200)} is not stored here, so it is not checked. Store its StructureDefinition to have it checked.`,
  expression: `${type}.meta.profile`,
});

const tooCostly = (type: string, canonical: string): ErrorIssue => ({
  severity: 'error',
  code: 'too-costly',
  diagnostics: `The profile ${canonical.slice(0, 200)} takes too long to check. Simplify its invariants.`,
  expression: `${type}.meta.profile`,
});
