import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newName } from '../../support/destinations';
import { login } from '../../../testing/world';
import { type Received, type Sent, type TestApp, startTestApp } from '../../../testing/test-app';

interface Part {
  readonly name: string;
  readonly part?: readonly Part[];
  readonly [value: string]: unknown;
}

let app: TestApp;
let startedAt: string;

const topicOf = (...trigger: readonly object[]): object => ({
  resourceType: 'SvcSubscriptionTopic',
  url: 'http://topics.example/draft',
  status: 'draft',
  trigger,
});

const dryRun = (topic: object, more: readonly Part[] = [], sent: Sent = {}): Promise<Received> =>
  app.post(
    '/fhir/SvcSubscriptionTopic/$dry-run',
    {
      resourceType: 'Parameters',
      parameter: [{ name: 'topic', resource: topic }, { name: 'start', valueInstant: startedAt }, ...more],
    },
    sent,
  );

const parametersOf = (answer: Received): readonly Part[] => {
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json<{ parameter: Part[] }>().parameter;
};

const valueOf = (parts: readonly Part[], name: string): unknown => {
  const { name: _name, ...rest } = parts.find((part) => part.name === name) ?? { name };
  return Object.values(rest)[0];
};

/** Each listed version as text. */
const verdictsOf = (parts: readonly Part[]): string[] =>
  parts
    .filter(({ name }) => name === 'version')
    .map(({ part = [] }) => {
      const { reference } = valueOf(part, 'reference') as { reference: string };
      const triggers = part
        .filter(({ name }) => name === 'trigger')
        .map(({ part: of = [] }) => {
          const why = (valueOf(of, 'clause') ?? valueOf(of, 'supported') ?? valueOf(of, 'undecided')) as
            string | undefined;
          return `${String(valueOf(of, 'index'))}:${String(valueOf(of, 'fires'))}${why === undefined ? '' : ` ${why}`}`;
        });
      return [reference, valueOf(part, 'interaction'), valueOf(part, 'fires'), ...triggers].join(' | ');
    });

beforeAll(async () => {
  app = await startTestApp();
  startedAt = new Date(Date.now() - 1000).toISOString();
  const put = (id: string, members: object): Promise<Received> =>
    app.put(`/fhir/Patient/${id}`, { resourceType: 'Patient', id, ...members });
  await put('a', { gender: 'male', active: true });
  await put('a', { gender: 'female', active: true });
  await put('b', { gender: 'female', name: [{ family: 'x' }, { family: 'y' }] });
  await app.delete('/fhir/Patient/a');
});
afterAll(() => app.close());

describe('SvcSubscriptionTopic/$dry-run', () => {
  it('returns for each version whether it would fire, and the first clause that was false', async () => {
    const trigger = {
      resource: 'Patient',
      supportedInteraction: ['create', 'update'],
      fhirPathCriteria: "gender = 'female' and %previous.gender = 'male'",
    };
    const parts = parametersOf(await dryRun(topicOf(trigger)));
    expect(verdictsOf(parts)).toEqual([
      "Patient/a/_history/1 | create | false | 0:false gender = 'female'",
      'Patient/a/_history/2 | update | true | 0:true',
      "Patient/b/_history/1 | create | false | 0:false %previous.gender = 'male'",
      'Patient/a/_history/3 | delete | false | 0:false create, update',
    ]);
    expect(['isComplete', 'versionsExamined', 'events', 'undecided'].map((name) => valueOf(parts, name))).toEqual([
      true,
      4,
      1,
      0,
    ]);
    expect(Number(valueOf(parts, 'eventsPerHour'))).toBeGreaterThan(0);
  });

  it('accepts a bare topic, with the time window in the query', async () => {
    const answer = await app.post(
      `/fhir/SvcSubscriptionTopic/$dry-run?start=${encodeURIComponent(startedAt)}&_count=1`,
      topicOf({ resource: 'Patient' }),
    );
    expect(verdictsOf(parametersOf(answer))).toEqual(['Patient/a/_history/1 | create | true | 0:true']);
  });

  it('evaluates every trigger, and counts a criterion that cannot be evaluated as a match', async () => {
    const parts = parametersOf(
      await dryRun(
        topicOf(
          { resource: 'Patient', supportedInteraction: ['delete'] },
          { resource: 'Patient', fhirPathCriteria: 'name.single().exists()' },
        ),
      ),
    );
    expect(verdictsOf(parts).slice(2)).toEqual([
      'Patient/b/_history/1 | create | true | 0:false delete | 1:true The criterion cannot be evaluated, or takes too long.',
      'Patient/a/_history/3 | delete | true | 0:true | 1:false name.single().exists()',
    ]);
    expect(valueOf(parts, 'undecided')).toBe(1);
  });

  it('returns pages, and continues from the end of each', async () => {
    const topic = topicOf({ resource: 'Patient' });
    const all: string[] = [];
    let after: readonly Part[] = [];
    for (let page = 1; page <= 4; page++) {
      const parts = parametersOf(await dryRun(topic, [{ name: '_count', valueUnsignedInt: 1 }, ...after]));
      all.push(...verdictsOf(parts));
      expect(valueOf(parts, 'isComplete')).toBe(page === 4);
      after = [{ name: '_after', valueString: valueOf(parts, 'next') }];
    }
    expect(all).toEqual(verdictsOf(parametersOf(await dryRun(topic))));
  });

  it('only counts with _count 0', async () => {
    const parts = parametersOf(
      await dryRun(topicOf({ resource: 'Patient' }), [{ name: '_count', valueUnsignedInt: 0 }]),
    );
    expect([verdictsOf(parts), valueOf(parts, 'events'), valueOf(parts, 'isComplete')]).toEqual([[], 4, true]);
    expect(parts.find(({ name }) => name === 'busiestHour')).toBeDefined();
  });

  it('with _fires lists the newest versions with that result, and counts all with their reasons', async () => {
    const trigger = { resource: 'Patient', fhirPathCriteria: "gender = 'female' and name.exists()" };
    const runOf = async (fires: boolean, count: number): Promise<readonly Part[]> =>
      parametersOf(
        await dryRun(topicOf(trigger), [
          { name: '_fires', valueBoolean: fires },
          { name: '_count', valueUnsignedInt: count },
        ]),
      );
    const others = await runOf(false, 2);
    expect(verdictsOf(others)).toEqual([
      'Patient/a/_history/2 | update | false | 0:false name.exists()',
      'Patient/a/_history/3 | delete | false | 0:false name.exists()',
    ]);
    expect(['isComplete', 'versionsExamined', 'events'].map((name) => valueOf(others, name))).toEqual([true, 4, 1]);
    expect(verdictsOf(await runOf(true, 2))).toEqual(['Patient/b/_history/1 | create | true | 0:true']);
    expect(
      others
        .filter(({ name }) => name === 'unmet')
        .map(({ part = [] }) => ['index', 'failed', 'clause', 'versions'].map((name) => valueOf(part, name))),
    ).toEqual([
      [0, 'fhirPathCriteria', 'name.exists()', 2],
      [0, 'fhirPathCriteria', "gender = 'female'", 1],
    ]);
  });

  it('examines only versions in the time window', async () => {
    const parts = parametersOf(
      await dryRun(topicOf({ resource: 'Patient' }), [{ name: 'end', valueInstant: startedAt }]),
    );
    expect([valueOf(parts, 'versionsExamined'), valueOf(parts, 'eventsPerHour')]).toEqual([0, 0]);
  });

  it('stores no topic', async () => {
    const before = (await app.get('/fhir/SvcSubscriptionTopic/_history')).text;
    await dryRun({ ...topicOf({ resource: 'Patient' }), id: newName(), status: 'active' });
    const total = (text: string): unknown => (JSON.parse(text) as { total: number }).total;
    expect(total((await app.get('/fhir/SvcSubscriptionTopic/_history')).text)).toBe(total(before));
  });

  it.each<[string, () => Promise<Received>, number, string]>([
    ['an invalid topic', () => dryRun(topicOf({ resource: 'Patient', fhirPathCriteria: 'gendr' })), 422, 'do you mean'],
    ['an unknown type', () => dryRun(topicOf({ resource: 'Unicorn' })), 422, 'Unicorn'],
    [
      'no topic',
      () => app.post('/fhir/SvcSubscriptionTopic/$dry-run', { resourceType: 'Parameters', parameter: [] }),
      400,
      'SvcSubscriptionTopic',
    ],
    ['another resource', () => dryRun({ resourceType: 'Patient' }), 400, 'of type SvcSubscriptionTopic'],
    ['an unknown parameter', () => dryRun(topicOf(), [{ name: 'from', valueInstant: '2024' }]), 400, 'start, end'],
    ['a count over the limit', () => dryRun(topicOf(), [{ name: '_count', valueUnsignedInt: 1001 }]), 400, '1000'],
    ['an invalid time', () => dryRun(topicOf(), [{ name: 'end', valueInstant: 'now' }]), 400, 'a time such as'],
    ['an invalid _fires', () => dryRun(topicOf(), [{ name: '_fires', valueBoolean: 'x' }]), 400, 'true'],
    ['an invalid position', () => dryRun(topicOf(), [{ name: '_after', valueString: 'x' }]), 400, 'made by the server'],
    [
      'a window whose start is after its end',
      () => dryRun(topicOf(), [{ name: 'end', valueInstant: '2020-01-01T00:00:00Z' }]),
      400,
      'behind the end',
    ],
    ['a parameter twice', () => dryRun(topicOf(), [{ name: 'start', valueInstant: '2020' }]), 400, 'twice'],
    ['text', () => app.post('/fhir/SvcSubscriptionTopic/$dry-run', 'no json'), 400, ''],
  ])('refuses %s', async (_what, send, status, text) => {
    const answer = await send();
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
  });
});

describe('$dry-run for callers who are limited', () => {
  const observation = (id: string, patient: string): Promise<Received> =>
    app.put(`/fhir/Observation/${id}`, {
      resourceType: 'Observation',
      id,
      status: 'final',
      code: { text: 'pulse' },
      subject: { reference: `Patient/${patient}` },
    });

  it('returns nothing that the caller may not read', async () => {
    const criteria = ['Observation?subject=Patient/own', 'SvcSubscriptionTopic'];
    const nurse = await login(app, 'nurse', { policies: [{ engine: 'allow', criteria }] });
    const matcho = { uri: '/fhir/SvcSubscriptionTopic/$dry-run' };
    const caller = await login(app, 'caller', { policies: [{ engine: 'matcho', matcho }] });
    await observation('o1', 'own');
    await observation('o2', 'canary');
    await observation('o3', 'own');
    await app.delete('/fhir/Observation/o3');
    const versionsFor = async (authorization: string): Promise<string[]> =>
      verdictsOf(
        parametersOf(
          await dryRun(topicOf({ resource: 'Observation', fhirPathCriteria: 'subject.resolve().exists().not()' }), [], {
            authorization,
          }),
        ),
      ).map((text) => text.slice(0, text.indexOf(' ')));
    expect(await versionsFor(nurse.bearer)).toEqual(['Observation/o1/_history/1']);
    expect(await versionsFor(caller.bearer)).toEqual([]);
  });
});
