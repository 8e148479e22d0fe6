import { stringAt } from '../demo/value-at';
import { type HttpCall, HttpClient } from '../http-client';
import { jsonBody } from '../json-body';

const CLIENT_ID = 'bench';
const PROFILE = 'http://bench.example/StructureDefinition/svctopicdestination-webhook-at-least-once';
const QUEUE_TOPIC = 'http://bench.example/topics/queue';
const LIVE_TOPIC = 'http://bench.example/topics/live';

/** The number of destinations whose queues are filled and drained. No write of the bench matches their topic. */
export const QUEUE_COUNT = 4;
export const queueId = (index: number): string => `bench-queue-${index}`;

/** The type whose changes are delivered at once; no other case uses it. */
export const LIVE_TYPE = 'Flag';

export interface FirstSecrets {
  readonly rootSecret: string;
  readonly adminPassword: string;
}

/** The login form of the User `admin`. */
export const loginOf = ({ adminPassword }: FirstSecrets): Readonly<Record<string, string>> => ({
  grant_type: 'password',
  client_id: CLIENT_ID,
  username: 'admin',
  password: adminPassword,
});

/** Sets up topics and destinations, logs in the User `admin`, and returns the access token. */
export async function prepareServer(url: string, secrets: FirstSecrets, endpoint: string): Promise<string> {
  const client = new HttpClient(url);
  const root = { user: 'root', password: secrets.rootSecret };
  const put = async (path: string, body: object): Promise<void> => {
    await succeed(client, { method: 'PUT', path, authorization: root, body: jsonBody(body) });
  };
  await put('/fhir/SvcSubscriptionTopic/bench-queue', topic(QUEUE_TOPIC, 'Basic'));
  await put('/fhir/SvcSubscriptionTopic/bench-live', topic(LIVE_TOPIC, LIVE_TYPE));
  for (let index = 1; index <= QUEUE_COUNT; index++) {
    await put(`/fhir/SvcTopicDestination/${queueId(index)}`, destination(QUEUE_TOPIC, endpoint));
  }
  await put('/fhir/SvcTopicDestination/bench-live', destination(LIVE_TOPIC, endpoint));
  await put(`/Client/${CLIENT_ID}`, { grant_types: ['password'], auth: { password: { secret_required: false } } });
  return accessTokenOf(client, loginOf(secrets));
}

export async function accessTokenOf(client: HttpClient, form: Readonly<Record<string, string>>): Promise<string> {
  return stringAt(await succeed(client, { method: 'POST', path: '/auth/token', body: { form } }), 'access_token');
}

export const topic = (url: string, resource: string): object => ({ url, status: 'active', trigger: [{ resource }] });

/** @param parameter further parameters of the destination */
export const destination = (topicUrl: string, endpoint: string, ...parameter: readonly object[]): object => ({
  meta: { profile: [PROFILE] },
  kind: 'webhook-at-least-once',
  topic: topicUrl,
  parameter: [{ name: 'endpoint', valueUrl: endpoint }, ...parameter],
});

export async function succeed(client: HttpClient, call: HttpCall): Promise<unknown> {
  const { status, text, json } = await client.send(call);
  if (status > 299) throw new Error(`${call.method} ${call.path} was answered with ${status}: ${text.slice(0, 500)}`);
  return json;
}
