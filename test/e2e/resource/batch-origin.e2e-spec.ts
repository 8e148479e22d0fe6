import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { delivered, destination, newDestination, newTopic } from '../../support/destinations';
import { eventually } from '../../../testing/eventually';
import { runStatement } from '../../../testing/databases';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

const TEST_TIMEOUT_MILLISECONDS = 120_000;

let database: ClonedDatabase;
let receiver: WebhookReceiver;
let apps: TestApp[];
let id: string;

beforeEach(async () => {
  database = await cloneDatabase('started');
  receiver = await WebhookReceiver.start();
  apps = [];
  const first = await start('http://one.example');
  id = await newDestination(first, destination(await newTopic(first), {}, receiver.url));
}, TEST_TIMEOUT_MILLISECONDS);
afterEach(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await receiver.stop();
  await database.drop();
}, TEST_TIMEOUT_MILLISECONDS);

/** Starts a server, after stopping the previous one. */
async function start(baseUrl: string): Promise<TestApp> {
  await apps.pop()?.close();
  const environment = { BASE_URL: baseUrl, SVC_DELIVERY_POLL_MILLISECONDS: '100' };
  const app = await startTestApp({ databaseUrl: database.url, environment });
  apps.push(app);
  return app;
}

const write = async (value: number): Promise<void> => {
  const body = { resourceType: 'Patient', id: 'p', multipleBirthInteger: value };
  expect((await apps[0]?.put('/fhir/Patient/p', body))?.status).toBeLessThan(300);
};

/** Makes an attempt fail, so that a batch stays open without a current attempt. */
async function fail(): Promise<void> {
  receiver.always({ kind: 'answer', status: 503 });
  await write(1);
  await eventually('a request came', () => receiver.requests.length > 0);
  await apps.pop()?.close();
  receiver.always({ kind: 'answer', status: 200 });
  await runStatement(database.url, 'update destination_runtime set next_attempt_at = clock_timestamp()');
}

/** Id and body of each request. */
const sent = (): [unknown, string][] => receiver.requests.map(({ headers, body }) => [headers['webhook-id'], body]);

describe('A delivery batch that a server with one BASE_URL opened', () => {
  it(
    'D3: is sent with the same id and bytes by a server with another BASE_URL',
    async () => {
      await fail();
      await delivered(await start('http://other.example'), id, 1);
      expect(sent()[0]?.[1]).toContain('"fullUrl":"http://one.example/fhir/Patient/p"');
      expect(new Set(sent().map((request) => JSON.stringify(request))).size).toBe(1);
    },
    TEST_TIMEOUT_MILLISECONDS,
  );

  it(
    'D3: is replayed with the same id and bytes after BASE_URL changed; later batches have the new one',
    async () => {
      await write(1);
      await eventually('it is delivered', () => receiver.requests.length === 1);
      const second = await start('http://other.example');
      await delivered(second, id, 1);
      const replay = `/fhir/SvcTopicDestination/${id}/$replay?from=1`;
      await second.post(replay, { resourceType: 'Parameters' });
      await delivered(second, id, 2);
      await second.post(`${replay}&endpoint=${encodeURIComponent(receiver.url)}`, { resourceType: 'Parameters' });
      await write(2);
      await delivered(second, id, 3);
      const [original, again, elsewhere, later] = sent();
      expect([again, elsewhere]).toEqual([original, original]);
      expect(later?.[1]).toContain('"fullUrl":"http://other.example/fhir/Patient/p"');
    },
    TEST_TIMEOUT_MILLISECONDS,
  );

  it(
    'D3: gets the BASE_URL of the sending server if a server of 240c7c3 opened it',
    async () => {
      await fail();
      await runStatement(database.url, 'update open_batch set origin = null');
      await delivered(await start('http://other.example'), id, 1);
      expect(sent().at(-1)?.[1]).toContain('"fullUrl":"http://other.example/fhir/Patient/p"');
    },
    TEST_TIMEOUT_MILLISECONDS,
  );
});
