import { isSubtype, typeOfCanonical } from '../../fhir/definitions/definitions';
import {
  type PlacedExtension,
  type PlacedResource,
  printPath,
  type ProfileSources,
  ProfileValidator,
  type StoredProfile,
} from '../../validator/validator';
import { type ErrorIssue } from '../../platform/errors/service-error';
import { TooCostly } from '../../platform/errors/too-costly';
import { type CpuBudget } from '../../platform/time/cpu-budget';
import { longestStepOn, type Slices } from '../../platform/time/slices';
import { type Steps } from '../../platform/time/steps';

/** Maximum CPU time for all checks of one write. Checking one resource by one profile takes some 0.1 to 5 ms. */
const MAX_MILLISECONDS = 5_000;
const MAX_ISSUES = 100;

export interface ProfileCheck {
  readonly canonical: string;
  /** Path from the outermost resource to the member that names the definition. */
  readonly path: PlacedResource['path'];
  issuesBy(validator: ProfileValidator, definition: StoredProfile | undefined): Steps<readonly ErrorIssue[]>;
}

export interface AskedProfile {
  readonly place: PlacedResource;
  readonly canonical: string;
  /** Whether the caller of `$validate` names the profile. Then it is an error if it cannot be checked. */
  readonly isNominated: boolean;
  /** Whether the rule of the type checks the profile, in addition to a stored StructureDefinition. */
  readonly isOfRule: boolean;
}

/**
 * Runs the checks of one write. If an invariant of a definition takes too long, the definition is not evaluated again
 * for a while.
 */
export class ProfileChecks {
  private readonly issues = new Map<string, ErrorIssue>();
  private checked: ProfileCheck | undefined;

  constructor(
    private readonly sources: ProfileSources,
    private readonly slices: Slices,
    private readonly budget: CpuBudget,
  ) {}

  /**
   * Distinct issues of all checks, at most about a hundred.
   * @param characters number of characters of the resource
   */
  async issuesOf(checks: readonly ProfileCheck[], characters: number): Promise<readonly ErrorIssue[]> {
    const isStored = ({ canonical }: ProfileCheck): boolean => this.sources.profile(canonical) !== undefined;
    // Without a stored definition, a check runs no expression of a caller. Such a check is slow only on a busy machine,
    // so it has no limit.
    await this.slices.run(this.run(checks.filter((check) => !isStored(check))));
    const stored = checks.filter(isStored);
    if (stored.length > 0) await this.runLimited(stored, longestStepOn(characters));
    return [...this.issues.values()];
  }

  private async runLimited(checks: readonly ProfileCheck[], ofOne: number): Promise<void> {
    try {
      await this.slices.runLimited(() => this.run(checks), { ofOne, ofAll: MAX_MILLISECONDS });
    } catch (error) {
      if (!(error instanceof TooCostly) || this.checked === undefined) throw error;
      this.budget.spend(this.checked.canonical, ofOne);
      this.add([tooCostly(this.checked)]);
    }
  }

  private *run(checks: readonly ProfileCheck[]): Steps<void> {
    const validator = new ProfileValidator(this.sources);
    for (const check of checks) {
      if (this.issues.size >= MAX_ISSUES) return;
      this.checked = check;
      const definition = this.sources.profile(check.canonical);
      if (definition === undefined || this.budget.allows(check.canonical))
        this.add(yield* check.issuesBy(validator, definition));
      else this.add([tooCostly(check)]);
      yield;
    }
  }

  /** Adds each issue once: a profile of the resource and the definition of its extension may report the same issue. */
  private add(issues: readonly ErrorIssue[]): void {
    for (const issue of issues) this.issues.set(`${issue.code} ${issue.expression} ${issue.diagnostics}`, issue);
  }
}

export function checkOfProfile(asked: AskedProfile): ProfileCheck {
  const { place, canonical, isOfRule } = asked;
  return {
    canonical,
    path: [...place.path, 'meta', 'profile'],
    *issuesBy(validator, profile) {
      if (profile !== undefined) return yield* validator.validate(place, profile);
      // An R4 type as a profile need not be stored, since every resource is checked by its type anyway.
      const type = typeOfCanonical(canonical.replace(/\|.*/, ''));
      if (type === undefined) return isOfRule ? [] : [unknownProfile(asked)];
      return isSubtype(String(place.resource.resourceType), type) ? [] : [otherType(asked, type)];
    },
  };
}

export const checkOfExtension = ({ place, url, extension, path }: PlacedExtension): ProfileCheck => ({
  canonical: url,
  path,
  *issuesBy(validator, definition) {
    return definition?.type === 'Extension'
      ? yield* validator.validateExtension(place, extension, path, definition)
      : [];
  },
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
