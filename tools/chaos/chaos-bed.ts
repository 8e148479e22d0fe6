import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseClient } from '../../src/platform/database/database-client';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { type Cleanup } from '../bench/cleanup';
import { ChildServer } from '../bench/child-server';
import { HttpClient } from '../http-client';
import { jsonBody } from '../json-body';
import { type FaultyReceiver } from './faulty-receiver';
import { type PoolerProgram, startPgBouncer } from './pgbouncer';
import { PostgresProxy } from './postgres-proxy';
import { type PreparedTransactions } from './prepared-transactions';
import { type SlowFaults } from './slow-faults';

const PROFILE = 'http://chaos.example/StructureDefinition/svctopicdestination-webhook-at-least-once';
const TOPIC = 'http://chaos.example/topics/patients';

export const TIMEOUT_SECONDS = 2;
/** Settings of PostgreSQL. By default it allows no prepared transactions. */
const SETTINGS = { max_prepared_transactions: '100' };

/** A server that is killed and restarted. */
export interface Replica {
  readonly name: string;
  /** The process of the replica; undefined while the replica is down. */
  server: ChildServer | undefined;
  /** Faults of the connections between the replica and the database. */
  readonly faults: SlowFaults;
  readonly databaseUrl: string;
}

/** A cluster with its database and credentials. */
export interface ChaosBed {
  readonly replicas: readonly Replica[];
  readonly authorization: string;
  /** Starts a replica and waits until it listens. */
  start(replica: Replica): Promise<void>;
  /** Runs a query on a new connection, which survives errors; it rejects while the database is down. */
  query<Row extends object>(text: string): Promise<Row[]>;
}

/**
 * Starts a durable PostgreSQL in `folder`, and a replica of the compiled server for each of `faults`. Stores one topic
 * on Patient and a destination for each endpoint of the receiver. Each replica reaches the database through its own
 * proxy.
 */
export async function setUpChaos(
  {
    folder,
    processes,
    faults,
    prepared,
    receiver,
    pooler,
  }: {
    folder: string;
    /** Processes of each replica. */
    processes: number;
    faults: readonly SlowFaults[];
    prepared: PreparedTransactions;
    receiver: FaultyReceiver;
    pooler?: PoolerProgram | undefined;
  },
  cleanup: Cleanup,
): Promise<ChaosBed> {
  const data = await cleanup.undoing(makeFolder(), (path) => rm(path, { recursive: true, force: true }));
  const postgres = await cleanup.undoing(
    startEmbeddedPostgres({ dataDirectory: data, settings: SETTINGS }),
    (started) => started.stop(),
  );
  await query(postgres.url, 'create database chaos');
  const url = new URL(postgres.url);
  url.pathname = '/chaos';
  const bouncer =
    pooler && (await cleanup.undoing(startPgBouncer(pooler, url.href, data), (started) => started.stop()));
  const places: Omit<Replica, 'server'>[] = [];
  for (const [index, of] of faults.entries()) {
    const starting = PostgresProxy.start(bouncer?.url ?? url.href, { faults: of, prepared });
    const proxy = await cleanup.undoing(starting, (started) => started.stop());
    places.push({ name: `server ${index + 1}`, faults: of, databaseUrl: proxy.url });
  }
  const directUrl = bouncer === undefined ? undefined : url.href;
  return startServers({ folder, processes, data, places, databaseUrl: url.href, directUrl, receiver }, cleanup);
}

/**
 * Starts one server for each entry of `places`, each with its own database URL. All use the database of `databaseUrl`,
 * in which this stores a topic and its destinations.
 */
export async function startServers(
  {
    folder,
    processes = 1,
    data,
    places,
    databaseUrl,
    directUrl,
    receiver,
    logLevel = 'error',
  }: {
    folder: string;
    processes?: number;
    data: string;
    places: readonly Omit<Replica, 'server'>[];
    databaseUrl: string;
    directUrl?: string | undefined;
    receiver: FaultyReceiver;
    logLevel?: string;
  },
  cleanup: Cleanup,
): Promise<ChaosBed> {
  const rootSecret = randomBytes(24).toString('hex');
  const variables = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: data,
    SVC_ROOT_CLIENT_SECRET: rootSecret,
    SVC_ADMIN_PASSWORD: randomBytes(24).toString('hex'),
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SVC_LOG_LEVEL: logLevel,
    SVC_DELIVERY_POLL_MILLISECONDS: '250',
    SVC_DATABASE_POOL_SIZE: '16',
    SVC_SHUTDOWN_SECONDS: '3',
    ...(directUrl === undefined ? {} : { SVC_DATABASE_DIRECT_URL: directUrl }),
    ...(processes > 1 ? { SVC_PROCESSES: String(processes) } : {}),
  };
  const replicas = places.map((place): Replica => ({ ...place, server: undefined }));
  await cleanup.undoing(Promise.resolve(replicas), async (all) => {
    for (const { server } of all) await server?.stop();
  });
  const bed: ChaosBed = {
    replicas,
    authorization: `Basic ${Buffer.from(`root:${rootSecret}`).toString('base64')}`,
    start: async (replica) => {
      replica.server = await ChildServer.start(
        join(folder, 'src', 'main.js'),
        { ...variables, DATABASE_URL: replica.databaseUrl },
        'ignore',
      );
    },
    query: (text) => query(databaseUrl, text),
  };
  for (const replica of replicas) await bed.start(replica);
  await makeDestinations(replicas[0]?.server?.url ?? '', rootSecret, receiver);
  return bed;
}

async function makeDestinations(url: string, rootSecret: string, receiver: FaultyReceiver): Promise<void> {
  const client = new HttpClient(url);
  const put = async (path: string, body: object): Promise<void> => {
    const authorization = { user: 'root', password: rootSecret };
    const { status, text } = await client.send({ method: 'PUT', path, authorization, body: jsonBody(body) });
    if (status > 299) throw new Error(`PUT ${path} was answered ${status}: ${text}`);
  };
  await put('/fhir/SvcSubscriptionTopic/chaos', { url: TOPIC, status: 'active', trigger: [{ resource: 'Patient' }] });
  for (const id of receiver.destinations) {
    await put(`/fhir/SvcTopicDestination/${id}`, {
      meta: { profile: [PROFILE] },
      kind: 'webhook-at-least-once',
      topic: TOPIC,
      includeVersionIdInFocusReference: true,
      parameter: [
        { name: 'endpoint', valueUrl: receiver.urlOf(id) },
        { name: 'timeout', valueUnsignedInt: TIMEOUT_SECONDS },
      ],
    });
  }
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-chaos-'));
  // If this runs as root, PostgreSQL runs as another account and needs access; its own data folder stays private.
  await chmod(folder, 0o755);
  return folder;
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new DatabaseClient({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
