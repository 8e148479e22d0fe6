import { beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../testing/eventually';
import { type Environment } from '../../platform/config/environment';
import { changeOf } from './topic-criteria';
import { CriteriaEvaluation, type Decision, type LoadReferences, WriteTime } from './criteria-evaluation';
import { type ResourceName } from '../../model/stored-resource';
import { CpuBudget } from '../../platform/time/cpu-budget';
import { RequestContext } from '../../platform/request/request-context';
import { Slices } from '../../platform/time/slices';
import { compileCriterion, type Criterion } from '../../fhirpath/fhirpath';

const patient = '{"resourceType":"Patient","gender":"female","name":[{"family":"a"},{"family":"b"}]}';
const female = compileCriterion("gender = 'female'", 'Patient');
const single = compileCriterion('name.single().exists()', 'Patient');

let now: number;
let evaluation: CriteriaEvaluation;

beforeEach(() => {
  now = 0;
  const budget = Object.assign(new CpuBudget(), { nowMs: () => now });
  evaluation = new CriteriaEvaluation(
    budget,
    { baseUrl: 'http://svc.example' } as Environment,
    new Slices(new RequestContext()),
  );
});

const nothing: LoadReferences = () => Promise.reject(new Error('Nothing is asked for'));

const decide = (criteria: readonly Criterion[], text = patient, load: LoadReferences = nothing): Promise<Decision[]> =>
  evaluation.decide(criteria, changeOf(text, undefined), load);

describe(CriteriaEvaluation, () => {
  it('decides the criteria that it can evaluate, and leaves the others undecided', async () => {
    expect(await decide([female, single, female])).toEqual([true, undefined, true]);
    expect(await decide([])).toEqual([]);
  });

  it('stops a criterion that takes too long, decides the others, and skips it for a while', async () => {
    let asked = 0;
    const slow: Criterion = {
      cost: Infinity,
      matches: () => {
        asked += 1;
        return /^(a+)+$/.test(`${'a'.repeat(60)}!`);
      },
    };
    expect(await decide([slow, female])).toEqual([undefined, true]);
    for (let time = 0; time < 20; time++) expect(await decide([slow, female])).toEqual([undefined, true]);
    const triedAtFirst = asked;
    // The slow criterion may be evaluated four times before it is skipped. An evaluation is repeated once if the
    // operating system suspended this process meanwhile.
    expect(triedAtFirst).toBeLessThanOrEqual(8);
    now += 1_000_000;
    await decide([slow]);
    expect(asked).toBeGreaterThan(triedAtFirst);
  });

  it('S13: shares one budget between all criteria of a write, and evaluates cheap ones first', async () => {
    let asked = 0;
    const costly: Criterion = {
      cost: Infinity,
      matches: () => {
        asked += 1;
        return /^(a+)+$/.test(`${'a'.repeat(60)}!`);
      },
    };
    const many = Array.from({ length: 30 }, (): Criterion => ({ ...costly }));
    expect(await decide([...many, female])).toEqual([...many.map(() => undefined), true]);
    expect(asked).toBeLessThan(12);
  });

  it('S13: shares one time budget between several evaluations of one write', async () => {
    const time = new WriteTime();
    time.millisecondsLeft = 0;
    const costly: Criterion = { cost: Infinity, matches: () => true };
    const decided = await evaluation.decide([costly], changeOf(patient, undefined), nothing, time);
    expect(decided).toEqual([undefined]);
  });

  it('S13: yields to other requests between slow criteria', async () => {
    let turns = 0;
    const seen: number[] = [];
    const timer = setInterval(() => (turns += 1), 0);
    const busy = (): Criterion => ({
      cost: Infinity,
      matches: () => {
        seen.push(turns);
        for (const end = performance.now() + 8; performance.now() < end;);
        return true;
      },
    });
    // On a busy machine, a criterion may be interrupted.
    await eventually('all are decided', async () => {
      seen.length = 0;
      return (await decide([busy(), busy(), busy(), busy()])).every((decided) => decided === true);
    });
    clearInterval(timer);
    expect(new Set(seen).size).toBeGreaterThan(1);
  });
});

describe('resolve()', () => {
  const observation = JSON.stringify({
    resourceType: 'Observation',
    contained: [{ resourceType: 'Device', id: 'd', status: 'active' }],
    device: { reference: '#d' },
    subject: { reference: 'Patient/p' },
    performer: [
      { reference: 'http://svc.example/fhir/Practitioner/x' },
      { reference: 'http://else.example/Patient/q' },
    ],
  });
  const stored: Readonly<Record<string, object>> = {
    'Patient/p': {
      resourceType: 'Patient',
      id: 'p',
      gender: 'male',
      generalPractitioner: [{ reference: 'Practitioner/x' }],
    },
    'Practitioner/x': { resourceType: 'Practitioner', id: 'x', active: true },
  };

  async function answerOf(expression: string): Promise<{ decision: Decision; rounds: readonly (readonly string[])[] }> {
    const rounds: string[][] = [];
    const load: LoadReferences = (wanted: readonly ResourceName[]) => {
      const keys = wanted.map(({ type, id }) => `${type}/${id}`);
      rounds.push(keys);
      return Promise.resolve(
        new Map(keys.flatMap((key) => (stored[key] === undefined ? [] : [[key, JSON.stringify(stored[key])]]))),
      );
    };
    const [decision] = await decide([compileCriterion(expression, 'Observation')], observation, load);
    return { decision, rounds };
  }

  it.each([
    ['subject.resolve() is Patient', true],
    ['subject.resolve() is Group', false],
    ["subject.resolve().ofType(Patient).gender = 'male'", true],
    ['%current.performer.resolve().active.exists()', true],
    ['performer.where(resolve() is Practitioner).count() = 1', true],
    ['encounter.resolve().exists()', false],
  ])('decides %s', async (expression, decision) => {
    expect((await answerOf(expression)).decision).toBe(decision);
  });

  it('reads each resource once', async () => {
    const both = 'subject.resolve().gender.exists() and performer.resolve().active and subject.resolve().exists()';
    expect(await answerOf(both)).toEqual({ decision: true, rounds: [['Patient/p', 'Practitioner/x']] });
  });

  it('follows references of loaded resources', async () => {
    expect(await answerOf('subject.resolve().generalPractitioner.resolve().active')).toEqual({
      decision: true,
      rounds: [['Patient/p'], ['Practitioner/x']],
    });
  });

  it('finds contained resources', async () => {
    expect(await answerOf("device.resolve().status = 'active'")).toEqual({ decision: true, rounds: [] });
  });

  it('leaves a criterion undecided if it needs more than a hundred resources', async () => {
    const member = Array.from({ length: 101 }, (_value, index) => ({ entity: { reference: `Patient/p${index}` } }));
    const group = JSON.stringify({ resourceType: 'Group', member });
    const criteria = compileCriterion('member.entity.resolve().exists()', 'Group');
    expect(await decide([criteria, criteria], group)).toEqual([undefined, undefined]);
  });
});
