import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { delivered, destination, newDestination, newName, newTopic } from '../../support/destinations';
import { login } from '../../../testing/world';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

let app: TestApp;
let receiver: WebhookReceiver;

beforeAll(async () => {
  app = await startTestApp({ environment: { SVC_DELIVERY_POLL_MILLISECONDS: '60000' } });
});
afterAll(() => app.close());
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(() => receiver.stop());

const topic = (trigger: object): object => ({
  resourceType: 'SvcSubscriptionTopic',
  url: 'http://topics.example/refused',
  status: 'active',
  trigger: [{ resource: 'Patient' }, { resource: 'Patient', ...trigger }],
});

interface Outcome {
  readonly issue: readonly { readonly diagnostics?: string; readonly expression?: readonly string[] }[];
}

describe('A topic with an unsupported element', () => {
  it.each([
    ['queryCriteria', { queryCriteria: { current: 'active=true' } }, 'write it as fhirPathCriteria'],
    ['event', { event: [{ text: 'A01' }] }, 'writes of resources alone'],
    ['notificationShape', { notificationShape: [{ resource: 'Patient' }] }, 'the resource of the event alone'],
    ['fhirPathCriteria', { fhirPathCriteria: 'gendr.exists()' }, 'do you mean "gender"?'],
    ['fhirPathCriteria', { fhirPathCriteria: "gender = 'a' and" }, 'line 1, column'],
    [
      'fhirPathCriteria',
      { fhirPathCriteria: "'a'.matches('(')" },
      'no FHIRPath expression that this server can evaluate',
    ],
    ['fhirPathCriteria', { fhirPathCriteria: 7 }, 'must be a string'],
    ['resource', { resource: 'Unicorn' }, 'is not a resource type'],
    ['supportedInteraction', { supportedInteraction: 'create' }, 'must be an array'],
  ])('is refused with the path: %s', async (member, trigger, message) => {
    const answer = await app.post('/fhir/SvcSubscriptionTopic', topic(trigger));
    const { issue } = answer.json<Outcome>();
    expect([answer.status, issue[0]?.expression, issue[0]?.diagnostics]).toEqual([
      422,
      [`SvcSubscriptionTopic.trigger[1].${member}`],
      expect.stringContaining(message),
    ]);
  });

  it('is refused with more than a hundred triggers', async () => {
    const trigger = Array.from({ length: 101 }, () => ({ resource: 'Patient' }));
    const answer = await app.post('/fhir/SvcSubscriptionTopic', { ...topic({}), trigger });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('at most 100 times')]);
  });

  it.each([
    [
      'filterBy',
      { filterBy: [{ filterParameter: 'patient', comparator: 'eq', value: 'Patient/p' }] },
      'fhirPathCriteria',
    ],
    ['status', { status: 'off' }, 'Delete it to end that'],
  ])('in a destination is refused with the path: %s', async (member, more, message) => {
    const answer = await app.post('/fhir/SvcTopicDestination', destination('http://t.example', more));
    const { issue } = answer.json<Outcome>();
    expect([answer.status, issue[0]?.expression, issue[0]?.diagnostics]).toEqual([
      422,
      [`SvcTopicDestination.${member}`],
      expect.stringContaining(message),
    ]);
  });
});

describe('A wrong FHIRPath', () => {
  it.each([
    [
      'C12.11: a misspelt element',
      'name.famly.exists()',
      'line 1, column 6: HumanName has no element "famly"; do you mean "family"?',
    ],
    ['C12.11: two dots', 'name..family', 'line 1, column 6: "." is not expected there'],
    ['C10.10: an unterminated string', "gender =\n 'male", `line 2, column 2: "'male" is not understood`],
    ['C10.10: an incomplete expression', 'gender = ', 'line 1, column 10: the expression ends too early'],
    ['C10.10: an empty bracket', 'name.where()', 'line 1, column 6: where() takes 1 arguments, not 0'],
  ])('%s is refused with its position', async (_what, fhirPathCriteria, message) => {
    const answer = await app.post('/fhir/SvcSubscriptionTopic', topic({ fhirPathCriteria }));
    const { issue } = answer.json<Outcome>();
    expect([answer.status, issue[0]?.diagnostics]).toEqual([422, expect.stringContaining(message)]);
  });

  it('C10.10: in a patch is refused with its position', async () => {
    await app.put('/fhir/Patient/c10', { resourceType: 'Patient', gender: 'male' });
    const part = [
      { name: 'type', valueCode: 'delete' },
      { name: 'path', valueString: 'Patient.name..family' },
    ];
    const patch = { resourceType: 'Parameters', parameter: [{ name: 'operation', part }] };
    const answer = await app.send('PATCH', '/fhir/Patient/c10', { body: patch });
    expect([answer.status, answer.json<Outcome>().issue[0]?.diagnostics]).toEqual([
      400,
      '"Patient.name..family" is no FHIRPath: line 1, column 14: "." is not expected there.',
    ]);
  });

  it('C10.10: in a SearchParameter is refused with its position', async () => {
    const answer = await app.post('/fhir/SearchParameter', {
      resourceType: 'SearchParameter',
      url: 'http://p.example/c10',
      name: 'C10',
      status: 'active',
      description: 'c10',
      code: 'c10',
      base: ['Patient'],
      type: 'string',
      expression: 'Patient.name.where(',
    });
    const { issue } = answer.json<Outcome>();
    expect([answer.status, issue[0]?.diagnostics]).toEqual([422, expect.stringContaining('line 1, column 20')]);
  });
});

describe('A criterion', () => {
  it.each([
    ["name.first().family + '!' = 'Lee!'"],
    ["iif(gender = 'male', 'm', 'f') = 'm'"],
    ['active.toInteger() = 1'],
    ["0.0.toString() = '0.0'"],
  ])('D9: fires only if it is true: %s', async (expression) => {
    const fhirPathCriteria = `${expression} and gender = 'male'`;
    const id = await newDestination(
      app,
      destination(await newTopic(app, { resource: 'Patient', fhirPathCriteria }), {}, receiver.url),
    );
    const [one, other] = [newName(), newName()];
    await app.put(`/fhir/Patient/${other}`, { resourceType: 'Patient', gender: 'female', name: [{ family: 'Lee' }] });
    await app.put(`/fhir/Patient/${one}`, {
      resourceType: 'Patient',
      active: true,
      gender: 'male',
      name: [{ family: 'Lee' }],
    });
    await delivered(app, id, 1);
    expect(receiver.references).toEqual([`Patient/${one}`]);
    expect(receiver.request(0).body).not.toContain('event-undecided');
  });
});

describe('resolve() in a criterion', () => {
  const observation = (patient: string): object => ({
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'pulse' },
    subject: { reference: `Patient/${patient}` },
  });
  const ofWomen = { resource: 'Observation', fhirPathCriteria: "subject.resolve().ofType(Patient).gender = 'female'" };

  it('reads stored resources, and those that the same Bundle writes', async () => {
    const id = await newDestination(app, destination(await newTopic(app, ofWomen), {}, receiver.url));
    const [her, him, other] = [newName(), newName(), newName()];
    await app.put(`/fhir/Patient/${her}`, { resourceType: 'Patient', gender: 'female' });
    await app.put(`/fhir/Patient/${him}`, { resourceType: 'Patient', gender: 'male' });
    const put = (resource: object, url: string): object => ({ request: { method: 'PUT', url }, resource });
    await app.put(`/fhir/Observation/${her}`, observation(her));
    await app.put(`/fhir/Observation/${him}`, observation(him));
    await app.put(`/fhir/Observation/${newName()}`, observation('nobody'));
    const bundle = await app.post('/fhir', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        put({ ...observation(other), id: other }, `Observation/${other}`),
        put({ resourceType: 'Patient', id: other, gender: 'female' }, `Patient/${other}`),
      ],
    });
    expect(bundle.status).toBe(200);
    await delivered(app, id, 2);
    expect(receiver.references).toEqual([`Observation/${her}`, `Observation/${other}`]);
  });

  it('is refused to callers who are limited to rows', async () => {
    const nurse = await login(app, 'nurse', { policies: [{ engine: 'allow', criteria: ['SvcSubscriptionTopic'] }] });
    const store = async (trigger: object): Promise<number> =>
      (await app.post('/fhir/SvcSubscriptionTopic', topic(trigger), { authorization: nurse.bearer })).status;
    expect([await store(ofWomen), await store({ fhirPathCriteria: 'active' })]).toEqual([403, 201]);
  });
});

describe('A criterion with exponential cost', () => {
  it.each([
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaa'.toChars().aggregate($total & $total, 'xxxx').toChars().exists()",
    `'aaaaaaaaaaaaaaaaaaaaaaaaaaaa'${".replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa')".repeat(7)}.exists()`,
    `'aaaa'${'.select($this & $this)'.repeat(40)}.length() > 0`,
    '(1).repeat($this + 1).exists()',
    "gender.matches('(?<=a)b')",
    `(1|2|3|4|5|6|7|8)${'.select(1|2|3|4|5|6|7|8)'.repeat(50)}.exists()`,
  ])('is refused, and the server keeps running: %s', async (fhirPathCriteria) => {
    const before = process.memoryUsage().rss;
    const answer = await app.post('/fhir/SvcSubscriptionTopic', topic({ fhirPathCriteria }));
    expect([answer.status, (await app.get('/health')).status]).toEqual([422, 200]);
    expect(process.memoryUsage().rss - before).toBeLessThan(500_000_000);
  });

  it('for some resources only: these fire, and others are delayed only briefly', async () => {
    const slow = {
      resource: 'Patient',
      fhirPathCriteria: 'name.all(%current.name.where(given.exists() or family.exists()).count() = 0)',
    };
    const name = Array.from({ length: 6_000 }, () => ({ text: 'a' }));
    const id = await newDestination(app, destination(await newTopic(app, slow), {}, receiver.url));
    const patients = Array.from({ length: 20 }, newName);
    for (const patient of patients) {
      await app.put(`/fhir/Patient/${patient}`, { resourceType: 'Patient', name });
    }
    await delivered(app, id, 20);
    expect(receiver.references).toEqual(patients.map((patient) => `Patient/${patient}`));
    const { body } = receiver.request(0);
    expect(body).toContain(
      '"extension":[{"url":"http://profiles.example/StructureDefinition/event-undecided","valueBoolean":true}]',
    );
    const timeline = (await app.get(`/fhir/SvcTopicDestination/${id}/$events?_count=1`)).text;
    expect(timeline).toContain('{"name":"undecided","valueBoolean":true}');
  });
});
