import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { type ClonedDatabase, cloneDatabase } from './clone-database';
import { eventually } from './eventually';
import { ServerProcess } from './server-process';
import { ADMIN_PASSWORD, ROOT, ROOT_SECRET } from './test-app';
import { WebhookReceiver } from './webhook-receiver';

const PROFILE = 'http://profiles.example/StructureDefinition/svctopicdestination-webhook-at-least-once';
const TOPIC = 'http://topics.example/patients';

/** An event as it came: its number, and the resource with its version, such as `Patient/p/3`. */
export interface SeenEvent {
  readonly number: number;
  readonly key: string;
}

/** A database, a receiver, and servers that deliver from one to the other and can be killed. */
export class DeliveryBed {
  private readonly servers: DeliveringServer[] = [];

  private constructor(
    readonly database: ClonedDatabase,
    readonly receiver: WebhookReceiver,
    private readonly settings: Readonly<Record<string, string>>,
  ) {}

  /**
   * @param settings environment variables that differ from the usual ones
   * @param database a migrated one; by default a clone of the template
   */
  static async open(settings: Readonly<Record<string, string>> = {}, database?: ClonedDatabase): Promise<DeliveryBed> {
    database ??= await cloneDatabase();
    const receiver = await WebhookReceiver.start();
    return new DeliveryBed(database, receiver, {
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
      SVC_ADMIN_PASSWORD: ADMIN_PASSWORD,
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      SVC_DELIVERY_POLL_MILLISECONDS: '100',
      SVC_SHUTDOWN_SECONDS: '2',
      SVC_DATABASE_POOL_SIZE: '8',
      ...settings,
    });
  }

  /**
   * @param settings of this server that differ from those of the bed
   * @param folder of the compiled server, where it is not the usual one
   */
  async start(settings: Readonly<Record<string, string>> = {}, folder?: string): Promise<DeliveringServer> {
    const process = await ServerProcess.start({ ...this.settings, ...settings }, folder);
    const server = new DeliveringServer(process, this.receiver);
    this.servers.push(server);
    return server;
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill('SIGKILL')));
    await this.receiver.stop();
    await this.database.drop();
  }

  async query(sql: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.database.url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Keys of all versions of Patients that are stored. */
  async committed(): Promise<ReadonlySet<string>> {
    const written = await this
      .query(`select 'Patient/' || id || '/' || version as key from resource where type = 'Patient'
      union select 'Patient/' || id || '/' || version from resource_history where type = 'Patient'`);
    return new Set(written.map(({ key }) => key as string));
  }

  /** Each event when it came for the first time. */
  get seen(): readonly SeenEvent[] {
    const seen = new Map<number, string>();
    for (const { entry } of this.receiver.bodies) {
      for (const { eventNumber, focus } of entry[0].resource.notificationEvent) {
        if (!seen.has(eventNumber)) seen.set(eventNumber, focus.reference.replace('/_history/', '/'));
      }
    }
    return [...seen].map(([number, key]) => ({ number, key }));
  }

  /** What is wrong with what came: numbers out of line, versions before earlier ones, other bytes in one batch. */
  get faults(): readonly string[] {
    const { seen } = this;
    // A batch begins with its first number; the id is made from the body, so it would tell nothing.
    const batches = this.receiver.requests.map(({ body }, index) => ({
      body,
      first: this.receiver.bodies[index]?.entry[0].resource.notificationEvent[0]?.eventNumber,
    }));
    const bodies = new Map(batches.map(({ first, body }) => [first, body]));
    return [
      ...seen.filter(({ number }, index) => number !== index + 1).map(({ number }) => `number ${number} out of line`),
      ...inversions(seen.map(({ key }) => key)).map((key) => `${key} after a later version`),
      ...batches
        .filter(({ first, body }) => bodies.get(first) !== body)
        .map(({ first }) => `other bytes in the batch that begins with ${first ?? 0}`),
    ];
  }
}

/** A server that can be killed. */
export class DeliveringServer {
  constructor(
    private readonly server: ServerProcess,
    private readonly receiver: WebhookReceiver,
  ) {}

  get pid(): number {
    return this.server.pid;
  }

  get output(): string {
    return this.server.output;
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.server.end(signal);
  }

  async send(method: string, path: string, body?: object): Promise<Response> {
    return fetch(`${this.server.url}${path}`, {
      method,
      headers: { Authorization: ROOT, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  putPatient(id: string, value: number): Promise<Response> {
    return this.send('PUT', `/fhir/Patient/${id}`, { resourceType: 'Patient', id, multipleBirthInteger: value });
  }

  /** The destination `d` of all changes of Patients, with batches of five. */
  async makeDestination(...parameter: readonly object[]): Promise<void> {
    await this.send('PUT', '/fhir/SvcSubscriptionTopic/t', {
      url: TOPIC,
      status: 'active',
      trigger: [{ resource: 'Patient' }],
    });
    const answer = await this.send('PUT', '/fhir/SvcTopicDestination/d', {
      meta: { profile: [PROFILE] },
      kind: 'webhook-at-least-once',
      topic: TOPIC,
      includeVersionIdInFocusReference: true,
      parameter: [
        { name: 'endpoint', valueUrl: this.receiver.url },
        { name: 'maxMessagesInBatch', valueUnsignedInt: 5 },
        ...parameter,
      ],
    });
    if (answer.status !== 201) throw new Error(`The destination was answered ${answer.status}: ${await answer.text()}`);
  }

  async status(): Promise<{ counts: Record<string, number>; errors: unknown[] }> {
    const answer = await this.send('GET', '/fhir/SvcTopicDestination/d/$status');
    const { parameter } = (await answer.json()) as {
      parameter: { name: string; valueDecimal?: number; part?: { valueString: string }[] }[];
    };
    const counts = parameter.flatMap(({ name, valueDecimal }) =>
      valueDecimal === undefined ? [] : [[name, valueDecimal]],
    );
    return {
      counts: Object.fromEntries(counts) as Record<string, number>,
      errors: parameter.filter(({ name }) => name === 'lastErrorDetail').map(({ part }) => part?.[0]?.valueString),
    };
  }

  async delivered(count: number): Promise<void> {
    await eventually(
      `${count} events are delivered`,
      async () => (await this.status()).counts.messagesDelivered === count,
    );
  }
}

/** Versions that came before an earlier one of the same resource. */
function inversions(keys: readonly string[]): string[] {
  const latest = new Map<string, number>();
  return keys.filter((key) => {
    const [, id = '', version] = key.split('/');
    const isInverted = Number(version) < (latest.get(id) ?? 0);
    latest.set(id, Number(version));
    return isInverted;
  });
}
