import { setImmediate } from 'node:timers/promises';
import { isSubtype } from '../../fhir/definitions';
import { typeOfCanonical } from '../../fhir/validation/profile/element-constraints';
import { type PlacedExtension } from '../../fhir/validation/profile/placed-extension';
import { type PlacedResource } from '../../fhir/validation/profile/placed-resource';
import { type ProfileSources, ProfileValidator } from '../../fhir/validation/profile/profile-validator';
import { type StoredProfile } from '../../fhir/validation/profile/stored-profile';
import { printPath } from '../../fhir/validation/validation-run';
import { type ErrorIssue } from '../../platform/errors/service-error';
import { withinTime } from '../../platform/time/within-time';

/** Others are served after this time: a Bundle may hold thousands of resources. */
const SLICE_MILLISECONDS = 20;
/** One resource by one profile takes some 0.1 to 5 ms. Nobody is served meanwhile. */
const MAX_MILLISECONDS_AT_ONCE = 1_000;
const MAX_MILLISECONDS = 5_000;
const MAX_ISSUES = 100;

/** One resource or extension to be checked by one definition. */
export interface ProfileCheck {
  readonly canonical: string;
  /** From the outermost resource to what names the definition. */
  readonly path: PlacedResource['path'];
  issuesBy(validator: ProfileValidator, definition: StoredProfile | undefined): readonly ErrorIssue[];
}

/** A profile of a resource. */
export interface AskedProfile {
  readonly place: PlacedResource;
  readonly canonical: string;
  /** A caller who names a profile for `$validate` receives an error when it cannot be checked. */
  readonly isNominated: boolean;
  /** The rule of the type checks it; a StructureDefinition would come on top. */
  readonly isOfRule: boolean;
}

/** Issues of all checks, each once, at most a hundred or so. Yields to other requests between checks. */
export async function issuesOfAll(
  checks: readonly ProfileCheck[],
  sources: ProfileSources,
): Promise<readonly ErrorIssue[]> {
  const issues = new Map<string, ErrorIssue>();
  const validator = new ProfileValidator(sources);
  const end = performance.now() + MAX_MILLISECONDS;
  let next = 0;
  while (next < checks.length && issues.size < MAX_ISSUES) {
    const sliceEnd = performance.now() + SLICE_MILLISECONDS;
    const isInTime = withinTime(MAX_MILLISECONDS_AT_ONCE, () => {
      for (let one = checks[next]; one !== undefined && performance.now() < sliceEnd; one = checks[next]) {
        // A profile of the resource and the definition of its extension may say the same.
        for (const issue of one.issuesBy(validator, sources.profile(one.canonical)))
          issues.set(`${issue.code} ${issue.expression} ${issue.diagnostics}`, issue);
        next += 1;
      }
      return true;
    });
    const pending = checks[next];
    if (pending === undefined) break;
    if (isInTime === undefined || performance.now() > end) return [...issues.values(), tooCostly(pending)];
    await setImmediate();
  }
  return [...issues.values()];
}

export function checkOfProfile(asked: AskedProfile): ProfileCheck {
  const { place, canonical, isOfRule } = asked;
  return {
    canonical,
    path: [...place.path, 'meta', 'profile'],
    issuesBy: (validator, profile) => {
      if (profile !== undefined) return validator.validate(place, profile);
      // A type of R4 is no profile that has to be stored: every resource is validated by its own.
      const type = typeOfCanonical(canonical.replace(/\|.*/, ''));
      if (type === undefined) return isOfRule ? [] : [unknownProfile(asked)];
      return isSubtype(String(place.resource.resourceType), type) ? [] : [otherType(asked, type)];
    },
  };
}

export const checkOfExtension = ({ place, url, extension, path }: PlacedExtension): ProfileCheck => ({
  canonical: url,
  path,
  issuesBy: (validator, definition) =>
    definition?.type === 'Extension' ? validator.validateExtension(place, extension, path, definition) : [],
});

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

const tooCostly = ({ canonical, path }: ProfileCheck): ErrorIssue => ({
  severity: 'error',
  code: 'too-costly',
  diagnostics: `The profile ${canonical.slice(0, 200)} takes too long to check. Simplify its invariants, or send fewer resources at once.`,
  expression: printPath(path),
});
