import { expect } from '@jest/globals';
import { eventually } from '../../testing/eventually';
import { type Sent, type TestApp } from '../../testing/test-app';

export const WEBHOOK_PROFILE = 'http://profiles.example/StructureDefinition/svctopicdestination-webhook-at-least-once';

let names = 0;

/** A new name for ids and topics, since specs share a database. */
export const newName = (): string => `n${++names}`;

/** A webhook destination; by default nothing listens at its endpoint. */
export function destination(topic: string, more: object = {}, url = 'http://127.0.0.1:9/'): object {
  return {
    resourceType: 'SvcTopicDestination',
    meta: { profile: [WEBHOOK_PROFILE] },
    kind: 'webhook-at-least-once',
    topic,
    parameter: [{ name: 'endpoint', valueUrl: url }],
    ...more,
  };
}

export async function newDestination(app: TestApp, body: object, sent?: Sent): Promise<string> {
  const answer = await app.post('/fhir/SvcTopicDestination', body, sent);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.json<{ id: string }>().id;
}

/** Stores an active topic with one trigger, and returns its URL. */
export async function newTopic(
  app: TestApp,
  trigger: object = { resource: 'Patient' },
  more: object = {},
): Promise<string> {
  const url = `http://topics.example/${newName()}`;
  const answer = await app.post('/fhir/SvcSubscriptionTopic', { url, status: 'active', trigger: [trigger], ...more });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return url;
}

/** The numbers of `$status`. */
export async function countsOf(app: TestApp, id: string): Promise<Readonly<Record<string, number>>> {
  const { parameter } = (await app.get(`/fhir/SvcTopicDestination/${id}/$status`)).json<{
    parameter: { name: string; valueDecimal?: number }[];
  }>();
  return Object.fromEntries(
    parameter.flatMap(({ name, valueDecimal }) => (valueDecimal === undefined ? [] : [[name, valueDecimal]])),
  );
}

export const delivered = (app: TestApp, id: string, count: number): Promise<unknown> =>
  eventually(`${count} events are delivered`, async () => (await countsOf(app, id)).messagesDelivered === count);
