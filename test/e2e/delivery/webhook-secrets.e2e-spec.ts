import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { webhookSignature } from '../../../src/delivery/webhook/webhook-signature';
import { delivered, destination, newDestination, newName, newTopic } from '../../support/destinations';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { type ReceivedRequest, WebhookReceiver } from '../../../testing/webhook-receiver';

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

const newSecret = (): string => randomBytes(32).toString('base64');

const withSecrets = (topic: string, secrets: readonly string[]): object =>
  destination(topic, {
    parameter: [
      { name: 'endpoint', valueUrl: receiver.url },
      ...secrets.map((valueString) => ({ name: 'secret', valueString })),
    ],
  });

const write = (): Promise<unknown> => app.put(`/fhir/Patient/${newName()}`, { resourceType: 'Patient' });

/** The signature as a receiver with `secrets` computes it. */
const expectedOf = ({ headers, body }: ReceivedRequest, secrets: readonly string[]): string =>
  webhookSignature(secrets, {
    id: String(headers['webhook-id']),
    timestampSeconds: Number(headers['webhook-timestamp']),
    body: Buffer.from(body),
  });

describe('The secrets of a webhook', () => {
  it('sign every attempt, with a new time and the same id', async () => {
    const topic = await newTopic(app);
    const secret = newSecret();
    const id = await newDestination(app, withSecrets(topic, [secret]));
    receiver.next({ kind: 'answer', status: 500 });
    await write();
    await delivered(app, id, 1);
    const [failed, sent] = [receiver.request(0), receiver.request(1)];
    expect(failed.headers['webhook-id']).toBe(sent.headers['webhook-id']);
    for (const request of [failed, sent]) {
      expect(request.headers['webhook-signature']).toBe(expectedOf(request, [secret]));
      expect(Math.abs(Number(request.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(300);
    }
  });

  it('can be rotated while the receiver can verify every notification', async () => {
    const topic = await newTopic(app);
    const [old, fresh] = [newSecret(), newSecret()];
    const id = await newDestination(app, withSecrets(topic, [old]));
    expect((await app.put(`/fhir/SvcTopicDestination/${id}`, withSecrets(topic, [fresh, '***']))).status).toBe(200);
    await write();
    await delivered(app, id, 1);
    expect((await app.put(`/fhir/SvcTopicDestination/${id}`, withSecrets(topic, ['***']))).status).toBe(200);
    await write();
    await delivered(app, id, 2);
    const [both, last] = [receiver.request(0), receiver.request(1)];
    expect(both.headers['webhook-signature']).toBe(expectedOf(both, [fresh, old]));
    expect(last.headers['webhook-signature']).toBe(expectedOf(last, [fresh]));
  });

  it('are in no response or log, and are encrypted in the database', async () => {
    const topic = await newTopic(app);
    const secret = newSecret();
    const id = await newDestination(app, withSecrets(topic, [secret]));
    await app.put(`/fhir/SvcTopicDestination/${id}`, withSecrets(topic, ['***', newSecret()]));
    const paths = [
      `/fhir/SvcTopicDestination/${id}`,
      `/fhir/SvcTopicDestination/${id}/_history`,
      '/fhir/SvcTopicDestination',
    ];
    const texts = await Promise.all(paths.map(async (path) => (await app.get(path)).text));
    expect(texts[0]).toContain('{"name":"secret","valueString":"***"}');
    const tables = await app.app
      .get(DataSource)
      .query<{ name: string }[]>(
        `select table_name as name from information_schema.tables where table_schema = 'public'`,
      );
    for (const { name } of tables) {
      const [row] = await app.app
        .get(DataSource)
        .query<{ text: string | null }[]>(`select string_agg(t::text, '') as text from "${name}" t`);
      texts.push(row?.text ?? '');
    }
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  });

  it('are refused without repeating them when they are too short', async () => {
    const answer = await app.post('/fhir/SvcTopicDestination', withSecrets('http://t.example', ['geheim']));
    expect([answer.status, answer.text.includes('openssl rand -base64 32'), answer.text.includes('geheim')]).toEqual([
      422,
      true,
      false,
    ]);
  });

  it('are optional: without one, nothing is signed', async () => {
    const id = await newDestination(app, withSecrets(await newTopic(app), []));
    await write();
    await delivered(app, id, 1);
    const { headers } = receiver.request(0);
    expect([headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature']]).toEqual([
      expect.any(String),
      undefined,
      undefined,
    ]);
  });
});
