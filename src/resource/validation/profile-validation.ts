import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import {
  type CodeSet,
  extensionsIn,
  type PlacedResource,
  placesIn,
  type ProfileSources,
  type StoredProfile,
} from '../../validator/validator';
import { typeOfCanonical } from '../../fhir/definitions/definitions';
import { CachedRegistry, RegistryEpoch } from '../../platform/database/registry-epoch';
import { Clock } from '../../platform/time/clock';
import { CpuBudget } from '../../platform/time/cpu-budget';
import { Slices } from '../../platform/time/slices';
import { type ErrorIssue } from '../../platform/errors/service-error';
import { ResourceRules } from '../hooks/resource-rule.registry';
import { conversionOf } from '../../platform/ucum/ucum';
import { KnownDefinitions } from './known-definitions';
import { type AskedProfile, checkOfExtension, checkOfProfile, ProfileChecks } from './profile-checks';
import { StoredDefinitions } from './stored-definitions';

/**
 * Maximum number of definitions that are looked up for one resource: those of its profiles, and those of the extensions
 * in them.
 */
const MAX_PROFILES = 200;

/** Validates resources by profiles stored as StructureDefinitions. */
@Injectable()
export class ProfileValidation {
  private readonly known: CachedRegistry<KnownDefinitions>;

  constructor(
    epoch: RegistryEpoch,
    definitions: StoredDefinitions,
    private readonly rules: ResourceRules,
    private readonly clock: Clock,
    private readonly slices: Slices,
    private readonly budget: CpuBudget,
  ) {
    this.known = new CachedRegistry(epoch, () => Promise.resolve(new KnownDefinitions(definitions)));
  }

  /**
   * Issues of a resource by the profiles in `meta.profile` and in `more`, and of its extensions by their definitions.
   * Contained resources, and resources in a Bundle or Parameters, are checked too. A profile that is not stored gives a
   * warning, unless the rule of the type checks it. The definition of an extension that is not stored gives no issue.
   * @param more canonicals of profiles that the caller names for the resource itself
   * @param extensionUrls urls of all extensions of the resource
   * @param characters number of characters of the resource
   */
  async issuesOf(
    resource: Resource,
    more: readonly string[],
    extensionUrls: readonly string[],
    characters: number,
  ): Promise<readonly ErrorIssue[]> {
    const known = await this.known.get();
    const stored = await known.storedOf(extensionUrls);
    const places = placesIn(resource);
    const asked = this.askedOf(places, more);
    const extensions = stored.size === 0 ? [] : places.flatMap((place) => extensionsIn(place, stored));
    if (asked.length === 0 && extensions.length === 0) return [];
    const sources = await this.gather(known, [...asked.map(({ canonical }) => canonical), ...stored]);
    const checks = [...asked.map(checkOfProfile), ...extensions.map(checkOfExtension)];
    return new ProfileChecks(sources, this.slices, this.budget).issuesOf(checks, characters);
  }

  private askedOf(places: readonly PlacedResource[], more: readonly string[]): readonly AskedProfile[] {
    const rule = this.rules.of(String(places[0]?.resource.resourceType));
    return places.flatMap((place, index) =>
      [...new Set([...canonicalsOf(place.resource), ...(index === 0 ? more : [])])].map((canonical) => ({
        place,
        canonical,
        isNominated: more.includes(canonical),
        isOfRule: index === 0 && rule?.checksProfile?.(canonical) === true,
      })),
    );
  }

  /**
   * Loads profiles, their bases, the profiles of their types and their value sets. The checks then need no database.
   */
  private async gather(known: KnownDefinitions, canonicals: readonly string[]): Promise<ProfileSources> {
    const profiles = new Map<string, StoredProfile | undefined>();
    const valueSets = new Map<string, CodeSet | undefined>();
    // The loop adds entries to the set over which it iterates.
    const pending = new Set(canonicals);
    for (const canonical of pending) {
      if (profiles.has(canonical) || profiles.size >= MAX_PROFILES) continue;
      const profile = await known.profile(canonical);
      profiles.set(canonical, profile);
      if (profile === undefined) continue;
      if (profile.base !== undefined && !profile.hasSnapshot && typeOfCanonical(profile.base) === undefined)
        pending.add(profile.base);
      const asksTargets = asksForTargets(profile);
      for (const { types, requiredValueSet } of profile.elements) {
        for (const { profiles: own, targetProfiles } of types) {
          for (const other of asksTargets ? [...own, ...targetProfiles] : own) {
            if (typeOfCanonical(other) === undefined) pending.add(other);
          }
        }
        if (requiredValueSet === undefined || valueSets.has(requiredValueSet)) continue;
        valueSets.set(requiredValueSet, await known.codes(requiredValueSet));
      }
    }
    return {
      profile: (canonical) => profiles.get(canonical),
      codes: (canonical) => valueSets.get(canonical),
      now: () => this.clock.now().getTime(),
      convert: (value, from, to) => {
        const conversion = conversionOf(from, to);
        return conversion && value * conversion.factor + conversion.offset;
      },
    };
  }
}

function canonicalsOf({ meta }: PlacedResource['resource']): readonly string[] {
  const named: unknown = (meta as Resource['meta'])?.profile;
  return Array.isArray(named) ? (named as readonly unknown[]).filter((text) => typeof text === 'string') : [];
}

/** Whether the profile has slices that test the target of a reference. These need the profiles of the targets too. */
function asksForTargets({ elements }: StoredProfile): boolean {
  const discriminators = elements.flatMap(({ slicing }) => slicing?.discriminators ?? []);
  return discriminators.some(({ path }) => path.includes('resolve()'));
}
