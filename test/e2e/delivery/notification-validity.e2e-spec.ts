import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { delivered, destination, newDestination, newTopic } from '../../support/destinations';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

interface Issue {
  readonly severity: string;
  readonly code: string;
  readonly diagnostics: string;
  readonly expression?: readonly string[];
}

let app: TestApp;
let receiver: WebhookReceiver;

beforeAll(async () => {
  app = await startTestApp();
  receiver = await WebhookReceiver.start();
});
afterAll(async () => {
  await app.close();
  await receiver.stop();
});

async function issuesOf(body: object | string, path = '/fhir/Bundle/$validate'): Promise<string[]> {
  const answer = await app.post(path, body);
  expect(answer.status).toBe(200);
  return answer
    .json<{ issue: Issue[] }>()
    .issue.map(({ severity, code, diagnostics, expression = [] }) =>
      [severity, code, diagnostics.split(':')[0], ...expression].join(' '),
    );
}

/** The expected warnings: R4 requires some elements in a history Bundle that this kind of destination does not send. */
const TOLD = ['warning invariant bdl-3 Bundle', 'warning invariant bdl-4 Bundle'];

/**
 * Causes events of all interactions, and one event whose criterion cannot be evaluated. Returns the received bodies.
 */
async function notificationsOf(id: string, more: object): Promise<readonly string[]> {
  const topic = await newTopic(app, { resource: 'Patient', fhirPathCriteria: "name.single().family = 'Roe'" });
  const { length } = receiver.requests;
  const hook = await newDestination(app, destination(topic, more, receiver.url));
  const patient = (...name: object[]): object => ({ resourceType: 'Patient', id, name });
  const headers = { 'x-topic-correlation-id': 'order 1' };
  await app.put(`/fhir/Patient/${id}`, patient({ family: 'Roe' }), { headers });
  await app.put(`/fhir/Patient/${id}`, patient({ family: 'Roe' }, { family: 'Doe' }));
  await app.put(`/fhir/Patient/${id}`, patient({ family: 'Roe', given: ['Jo'] }));
  await app.delete(`/fhir/Patient/${id}`);
  await delivered(app, hook, 4);
  await app.post(`/fhir/SvcTopicDestination/${hook}/$test`, { resourceType: 'Parameters' });
  await app.delete(`/fhir/SvcTopicDestination/${hook}`);
  return receiver.requests.slice(length).map(({ body }) => body);
}

const FLAGS = { includeEntryAction: true, includeVersionId: true, includeVersionIdInFocusReference: true };

describe('A notification as received', () => {
  it.each([
    ['full', {}],
    ['flags', FLAGS],
    ['ids', { content: 'id-only', ...FLAGS }],
    ['none', { content: 'empty' }],
  ])('is valid R4, apart from warnings about elements that a history requires: %s', async (id, more) => {
    const bodies = await notificationsOf(id, more);
    expect(bodies.join()).toContain('event-undecided');
    expect(bodies.join()).toContain('"correlationId":"order 1"');
    expect(bodies.filter((body) => !body.includes('notificationEvent')).length).toBeGreaterThan(0);
    for (const body of bodies) expect([body, await issuesOf(body)]).toEqual([body, TOLD]);
  });

  it('can be stored as a Bundle', async () => {
    const [body = ''] = await notificationsOf('kept', {});
    expect((await app.post('/fhir/Bundle', body)).status).toBe(201);
  });
});

const STATUS = {
  resourceType: 'SvcSubscriptionStatus',
  status: 'active',
  type: 'event-notification',
  notificationEvent: [{ eventNumber: 4_000_000_000, focus: { reference: 'Patient/p' } }],
  topic: 'http://topics.example/t',
  'topic-destination': { reference: 'SvcTopicDestination/d' },
};
const bundle = (first: object, ...entry: object[]): object => ({
  resourceType: 'Bundle',
  type: 'history',
  timestamp: '2025-02-11T09:14:08Z',
  entry: [first, ...entry],
});
const event = { fullUrl: 'http://x.example/fhir/Patient/p', request: { method: 'PUT', url: '/fhir/Patient/p' } };

describe('A Bundle similar to a notification', () => {
  it.each<[string, object, readonly string[]]>([
    ['not a history', bundle(event), ['error invariant bdl-4 Bundle']],
    [
      'an event without a request',
      bundle({ resource: STATUS }, { resource: { resourceType: 'Patient' } }),
      ['error invariant bdl-3 Bundle', 'warning invariant bdl-4 Bundle'],
    ],
    [
      'an event with a response',
      bundle({ resource: STATUS }, { ...event, response: { status: '200' } }),
      ['warning invariant bdl-3 Bundle', 'error invariant bdl-4 Bundle'],
    ],
    [
      'a status without a destination',
      bundle({ resource: { ...STATUS, 'topic-destination': undefined } }, event),
      [
        'error required SvcSubscriptionStatus.topic-destination is required. Add "topic-destination". Bundle.entry[0].resource.topic-destination',
      ],
    ],
    [
      'a misspelt event',
      bundle({ resource: { ...STATUS, notificationEvents: [] } }, event),
      [
        'error structure "notificationEvents" is not an element of SvcSubscriptionStatus. Did you mean "notificationEvent"? Bundle.entry[0].resource.notificationEvents',
      ],
    ],
  ])('is validated by R4, and by the shape of the status: %s', async (_what, body, issues) => {
    expect(await issuesOf(body)).toEqual(issues);
  });
});

describe('SvcSubscriptionStatus', () => {
  it('can be validated, but not stored, found or listed', async () => {
    expect(await issuesOf(STATUS, '/fhir/$validate')).toEqual(['information informational All OK']);
    const answers = [
      await app.post('/fhir/SvcSubscriptionStatus', STATUS),
      await app.put('/fhir/SvcSubscriptionStatus/s', { ...STATUS, id: 's' }),
      await app.get('/fhir/SvcSubscriptionStatus'),
      await app.get('/fhir/SvcSubscriptionStatus/_history'),
      await app.get('/fhir/SvcSubscriptionStatus/s'),
      await app.delete('/fhir/SvcSubscriptionStatus/s'),
    ];
    expect(answers.map(({ status, text }) => [status, text.includes('is never stored')])).toEqual(
      answers.map(() => [404, true]),
    );
    expect((await app.get('/fhir/metadata')).text).not.toContain('SvcSubscriptionStatus');
    const trigger = await app.post('/fhir/SvcSubscriptionTopic', {
      url: 'http://topics.example/own',
      status: 'active',
      trigger: [{ resource: 'SvcSubscriptionStatus' }],
    });
    expect(trigger.status).toBe(422);
  });
});
