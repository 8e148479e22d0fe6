import { describe, expect, it } from '@jest/globals';
import { RequestContext } from '../../platform/request/request-context';
import { CpuBudget } from '../../platform/time/cpu-budget';
import { LONGEST_STEP_MILLISECONDS, Slices } from '../../platform/time/slices';
import { placesIn, type ProfileSources } from '../../validator/validator';
import { checkOfProfile, ProfileChecks } from './profile-checks';

const PROFILE = 'http://profiles.example/StructureDefinition/webhook';

const CHECKS = placesIn({ resourceType: 'SvcTopicDestination', meta: { profile: [PROFILE] } }).map((place) =>
  checkOfProfile({ place, canonical: PROFILE, isNominated: false, isOfRule: true }),
);

/**
 * A source without any definition. Each look-up takes longer than the time limit of a step, and also longer than the
 * extended limit of the second try on a busy machine.
 */
const stalling: ProfileSources = {
  profile: () => {
    const end = performance.now() + 12 * LONGEST_STEP_MILLISECONDS;
    while (performance.now() < end);
    return undefined;
  },
  codes: () => undefined,
  now: Date.now,
  convert: () => undefined,
};

const issuesUnder = (budget: CpuBudget): Promise<unknown> =>
  new ProfileChecks(stalling, new Slices(new RequestContext()), budget).issuesOf(CHECKS, 100);

describe(ProfileChecks.name, () => {
  it('accepts a profile that is not stored, however slow the machine is', async () => {
    expect(await issuesUnder(new CpuBudget())).toEqual([]);
  });

  it('accepts a profile that is not stored, even if its CPU budget is used up', async () => {
    const budget = new CpuBudget();
    budget.spend(PROFILE, 10_000);
    expect(await issuesUnder(budget)).toEqual([]);
  });
});
