import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Slots } from '../../../src/platform/admission/slots';
import { TopicDryRun } from '../../../src/topic-destination/dry-run/topic-dry-run';
import { eventually } from '../../../testing/eventually';
import { destination, newTopic } from '../../support/destinations';
import { longestTurn } from '../../support/longest-turn';
import { ROOT, type TestApp, startTestApp } from '../../../testing/test-app';

/**
 * Limit of one turn of the event loop, in milliseconds of CPU: five times the limit of a quiet machine
 * (docs/performance.md, "Turns"). The client runs in this process too.
 */
const BOUND = 250;

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  // The first resource of a type loads the definitions of that type, which must not be measured.
  await app.send('POST', '/fhir/Observation', { body: JSON.stringify(observation(300, 0)) });
  await app.send('POST', '/fhir/Patient', { body: JSON.stringify(patient(300)) });
  await app.send('POST', '/fhir/Questionnaire/$validate', { body: JSON.stringify(questionnaire(300)) });
});
afterAll(() => app.close());

const observation = (components: number, value: number): object => ({
  resourceType: 'Observation',
  id: `wide-${components}`,
  status: 'final',
  code: { text: 'c' },
  component: Array.from({ length: components }, (_, n) => ({
    code: { coding: [{ system: 'http://s', code: `c${n}` }] },
    valueQuantity: { value: value + n, unit: 'kg' },
  })),
});

const patient = (identifiers: number): object => ({
  resourceType: 'Patient',
  identifier: Array.from({ length: identifiers }, (_, n) => ({ system: 'http://s', value: `i${n}` })),
});

const questionnaire = (items: number): object => ({
  resourceType: 'Questionnaire',
  status: 'draft',
  item: Array.from({ length: items }, (_, n) => ({
    linkId: `q${n}`,
    type: 'string',
    ...(n === 0
      ? {}
      : { enableBehavior: 'any', enableWhen: [{ question: 'q0', operator: 'exists', answerBoolean: true }] }),
  })),
});

const turnOf = async (status: number, method: string, path: string, body: object): Promise<number> => {
  const text = JSON.stringify(body);
  return longestTurn(async () => {
    const answer = await app.send(method, path, { body: text, headers: { prefer: 'return=minimal' } });
    expect([answer.status, answer.text.slice(0, 500)]).toEqual([status, expect.any(String)]);
  });
};

describe('S23: a body of about 1 MB does not block the event loop', () => {
  it.each<[string, number, string, string, () => object]>([
    ['a create of 8,000 components', 201, 'PUT', '/fhir/Observation/wide-8000', () => observation(8_000, 0)],
    ['an update of 8,000 components', 200, 'PUT', '/fhir/Observation/wide-8000', () => observation(8_000, 1)],
    ['an update that changes nothing', 200, 'PUT', '/fhir/Observation/wide-8000', () => observation(8_000, 1)],
    ['a create of 16,000 identifiers', 201, 'POST', '/fhir/Patient', () => patient(16_000)],
    ['$validate of 8,000 items', 200, 'POST', '/fhir/Questionnaire/$validate', () => questionnaire(8_000)],
    [
      '$validate of Parameters',
      200,
      'POST',
      '/fhir/Patient/$validate',
      () => ({
        resourceType: 'Parameters',
        parameter: [{ name: 'resource', resource: patient(16_000) }],
      }),
    ],
  ])('for %s', async (_title, status, method, path, body) => {
    expect(await turnOf(status, method, path, body())).toBeLessThan(BOUND);
  });
});

// With a pattern in quadratic time, each of these requests would take more than 10 s.
describe('S23: a long text that nearly matches a pattern does not block the event loop', () => {
  const LENGTH = 100_000;

  it('in a header of a destination', async () => {
    const parameter = [
      { name: 'endpoint', valueUrl: 'http://127.0.0.1:9/' },
      { name: 'header', valueString: `X-Clinic: a${'\t'.repeat(LENGTH)}a` },
    ];
    const body = destination(await newTopic(app), { parameter });
    expect(await turnOf(422, 'POST', '/fhir/SvcTopicDestination', body)).toBeLessThan(BOUND);
  });

  it('in the criterion of a policy', async () => {
    const criteria = [`Patient?name={{${' '.repeat(4_000)}`];
    const body = { resourceType: 'AccessPolicy', engine: 'allow', criteria };
    expect(await turnOf(422, 'POST', '/fhir/AccessPolicy', body)).toBeLessThan(BOUND);
  });

  it('in the url of an entry', async () => {
    const entry = [{ request: { method: 'GET', url: `Patient${'/'.repeat(LENGTH)}p7` } }];
    const body = { resourceType: 'Bundle', type: 'batch', entry };
    expect(await turnOf(200, 'POST', '/fhir', body)).toBeLessThan(BOUND);
  });
});

describe('S14: $dry-run', () => {
  // This criterion needs the FHIRPath library, and takes some milliseconds for each version.
  const fhirPathCriteria = 'name.select(given.select($this.upper().lower().length())).distinct().count() > 1000';
  const draft = {
    resourceType: 'SvcSubscriptionTopic',
    url: 'http://topics.example/slow',
    status: 'draft',
    trigger: Array.from({ length: 20 }, () => ({ resource: 'Patient', fhirPathCriteria })),
  };
  const path = '/fhir/SvcSubscriptionTopic/$dry-run?_count=0';
  const slots = (): Slots => app.app.get<{ readonly slots: Slots }>(TopicDryRun, { strict: false }).slots;

  beforeAll(async () => {
    const name = Array.from({ length: 30 }, (_, n) => ({ family: 'f', given: [`g${n}`, 'h'] }));
    const entry = Array.from({ length: 200 }, () => ({
      resource: { resourceType: 'Patient', name },
      request: { method: 'POST', url: 'Patient' },
    }));
    expect((await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry })).status).toBe(200);
  });

  it('yields to the event loop, and runs one at a time for a caller', async () => {
    const leaving = new AbortController();
    const most: number[] = [];
    const turn = await longestTurn(async () => {
      const calls = Array.from({ length: 5 }, () => dryRun(leaving.signal));
      await eventually('one runs', () => slots().inUse > 0);
      for (let time = 0; time < 10; time++) {
        expect((await app.get('/health')).status).toBe(200);
        most.push(slots().inUse);
      }
      leaving.abort();
      await Promise.allSettled(calls);
    });
    expect(Math.max(...most)).toBe(1);
    expect(turn).toBeLessThan(BOUND);
  });

  it('stops when its client disconnects', async () => {
    const leaving = new AbortController();
    const call = dryRun(leaving.signal).catch(() => undefined);
    await eventually('it runs', () => slots().inUse === 1);
    leaving.abort();
    await call;
    const left = performance.now();
    await eventually('it has stopped', () => slots().inUse === 0);
    expect(performance.now() - left).toBeLessThan(5_000);
  });

  const dryRun = (signal: AbortSignal): Promise<Response> =>
    fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: { authorization: ROOT, 'content-type': 'application/fhir+json' },
      body: JSON.stringify(draft),
      signal,
    });
});
