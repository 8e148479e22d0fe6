import { Client } from 'pg';
import { type ClonedDatabase, cloneDatabase } from '../../testing/test-databases';
import { eventually } from '../../testing/eventually';
import { HttpClient, type Received } from '../../testing/http-client';
import { ServerProcess } from './server-process';
import { ADMIN_PASSWORD, ROOT, ROOT_SECRET, encryptionKey } from '../../testing/test-app';
import { WebhookReceiver } from '../../testing/webhook-receiver';

const PROFILE = 'http://profiles.example/StructureDefinition/svctopicdestination-webhook-at-least-once';
const TOPIC = 'http://topics.example/patients';

interface DestinationOptions {
  readonly id?: string;
  /** The endpoint of the destination. Default: the receiver of the bed. */
  readonly url?: string;
  /** Maximum events of a batch. Default: five. */
  readonly batch?: number;
  readonly parameter?: readonly object[];
}

/** A database, a receiver, and servers that deliver between them and can be killed. */
export class DeliveryBed {
  private readonly servers: DeliveringServer[] = [];
  private readonly receivers: WebhookReceiver[] = [];

  private constructor(
    readonly database: ClonedDatabase,
    /** The receiver of the destination `d`. */
    public receiver: WebhookReceiver,
    private readonly settings: Readonly<Record<string, string>>,
  ) {
    this.receivers.push(receiver);
  }

  /**
   * @param settings environment variables that differ from the usual ones
   * @param database a migrated database; by default a clone of the template
   */
  static async open(settings: Readonly<Record<string, string>> = {}, database?: ClonedDatabase): Promise<DeliveryBed> {
    database ??= await cloneDatabase('started');
    const receiver = await WebhookReceiver.start();
    return new DeliveryBed(database, receiver, {
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
      SVC_ADMIN_PASSWORD: ADMIN_PASSWORD,
      SVC_ENCRYPTION_KEY: encryptionKey(),
      SVC_DELIVERY_POLL_MILLISECONDS: '100',
      SVC_SHUTDOWN_SECONDS: '2',
      SVC_DATABASE_POOL_SIZE: '8',
      ...settings,
    });
  }

  /** @param settings of this server that differ from those of the bed */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<DeliveringServer> {
    const process = await ServerProcess.start({ ...this.settings, ...settings });
    const server = new DeliveringServer(process, () => this.receiver.url);
    this.servers.push(server);
    return server;
  }

  /** Returns a running server, starting one if there is none; kills all others. */
  async onlyServer(settings: Readonly<Record<string, string>> = {}): Promise<DeliveringServer> {
    const server = this.servers.findLast(({ isRunning }) => isRunning) ?? (await this.start(settings));
    await Promise.all(this.servers.filter((other) => other !== server).map((other) => other.kill('SIGKILL')));
    return server;
  }

  /** Resets delivery: deletes the destination `d`, and starts another receiver. */
  async renew(server: DeliveringServer): Promise<void> {
    await server.send('DELETE', '/fhir/SvcTopicDestination/d');
    this.receiver = await this.startReceiver();
  }

  async startReceiver(): Promise<WebhookReceiver> {
    const receiver = await WebhookReceiver.start();
    this.receivers.push(receiver);
    return receiver;
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill('SIGKILL')));
    await Promise.all(this.receivers.map((receiver) => receiver.stop()));
    await this.database.drop();
  }

  async query(sql: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.database.url });
    // Ignores the 'error' event: a crash that the scenario wants breaks the connection. The query fails anyway, and an
    // unhandled event would fail the test.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Keys of all Patient versions that were stored since the first destination started. */
  async committed(): Promise<ReadonlySet<string>> {
    const written = await this.query(`select 'Patient/' || id || '/' || version as key
      from (select type, id, version, updated_at from resource union select type, id, version, updated_at from resource_history) versions
      where type = 'Patient'
        and updated_at >= (select date_trunc('milliseconds', min(started_at)) from destination_runtime)`);
    return new Set(written.map(({ key }) => key as string));
  }
}

/** The last written value: each write takes the next one, so that no two written Patients are equal. */
let values = 1_000_000;

/** A server that can be killed. */
export class DeliveringServer {
  private readonly http = new HttpClient();

  constructor(
    private readonly server: ServerProcess,
    private readonly usualEndpoint: () => string,
  ) {}

  get isRunning(): boolean {
    return this.server.isRunning;
  }

  get url(): string {
    return this.server.url;
  }

  get pid(): number {
    return this.server.pid;
  }

  get output(): string {
    return this.server.output;
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.http.closeIdle(); // a server that stops waits a second for idle connections
    await this.server.end(signal);
  }

  send(method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<Received> {
    const sent = body === undefined ? {} : { body };
    return this.http.send(method, `${this.server.url}${path}`, { authorization: ROOT, headers, ...sent });
  }

  /**
   * @param value by default one that was never written
   */
  putPatient(id: string, value = ++values, headers: Readonly<Record<string, string>> = {}): Promise<Received> {
    const body = { resourceType: 'Patient', id, multipleBirthInteger: value };
    return this.send('PUT', `/fhir/Patient/${id}`, body, headers);
  }

  makeDestination(options: DestinationOptions = {}): Promise<void> {
    return this.makeDestinations([options]);
  }

  /** Stores destinations for all changes of Patients in one request. */
  async makeDestinations(all: readonly DestinationOptions[]): Promise<void> {
    const topic = {
      resourceType: 'SvcSubscriptionTopic',
      url: TOPIC,
      status: 'active',
      trigger: [{ resource: 'Patient' }],
    };
    const destinations = all.map(({ id = 'd', url = this.usualEndpoint(), batch = 5, parameter = [] }) => ({
      request: { method: 'PUT', url: `SvcTopicDestination/${id}` },
      resource: {
        resourceType: 'SvcTopicDestination',
        id,
        meta: { profile: [PROFILE] },
        kind: 'webhook-at-least-once',
        topic: TOPIC,
        includeVersionIdInFocusReference: true,
        parameter: [
          { name: 'endpoint', valueUrl: url },
          { name: 'maxMessagesInBatch', valueUnsignedInt: batch },
          ...parameter,
        ],
      },
    }));
    const request = { method: 'PUT', url: 'SvcSubscriptionTopic/t' };
    await this.batch([{ request, resource: { ...topic, id: 't' } }, ...destinations]);
  }

  removeDestinations(ids: readonly string[]): Promise<void> {
    return this.batch(ids.map((id) => ({ request: { method: 'DELETE', url: `SvcTopicDestination/${id}` } })));
  }

  private async batch(entries: readonly object[]): Promise<void> {
    const bundle = { resourceType: 'Bundle', type: 'batch', entry: entries };
    const { status, text } = await this.send('POST', '/fhir', bundle);
    const { entry = [] } = (status === 200 ? JSON.parse(text) : {}) as { entry?: { response: { status: string } }[] };
    const isDone = entry.length === entries.length && entry.every(({ response }) => response.status.startsWith('2'));
    if (!isDone) throw new Error(`A batch was answered ${status}: ${text.slice(0, 1000)}`);
  }

  async status(id = 'd'): Promise<{ counts: Record<string, number>; errors: unknown[] }> {
    const answer = await this.send('GET', `/fhir/SvcTopicDestination/${id}/$status`);
    const { parameter } = answer.json<{
      parameter: { name: string; valueDecimal?: number; part?: { valueString: string }[] }[];
    }>();
    const counts = parameter.flatMap(({ name, valueDecimal }) =>
      valueDecimal === undefined ? [] : [[name, valueDecimal]],
    );
    return {
      counts: Object.fromEntries(counts) as Record<string, number>,
      errors: parameter.filter(({ name }) => name === 'lastErrorDetail').map(({ part }) => part?.[0]?.valueString),
    };
  }

  /** The value of a metric, such as `process_resident_memory_bytes`; for servers with `SVC_METRICS_PORT`. */
  async metric(sample: string): Promise<number | undefined> {
    const address = /Metrics on ([\w.:]+\/metrics)/.exec(this.output)?.[1] ?? '';
    const lines = (await (await fetch(`http://${address}`)).text()).split('\n');
    const value = lines.find((line) => line.startsWith(`${sample} `))?.slice(sample.length);
    return value === undefined ? undefined : Number(value);
  }

  async delivered(count: number, id = 'd'): Promise<void> {
    await eventually(
      `${count} events are delivered`,
      async () => (await this.status(id)).counts.messagesDelivered === count,
    );
  }
}
