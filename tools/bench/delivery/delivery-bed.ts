import { resolve } from 'node:path';
import { type HttpCall, HttpClient } from '../../http-client';
import { jsonBody } from '../../json-body';
import { ChildServer } from '../child-server';
import { type Cleanup } from '../cleanup';
import { CpuMeter } from '../cpu-meter';
import { loadCharts } from '../load-charts';
import { newServer } from '../new-server';
import { databaseUrlOf, postgresFacts, runQuery } from '../own-database';
import { destination, prepareServer, succeed, topic } from '../prepare-server';
import { type OwnContender } from '../test-bed';
import { LARGE_BUFFERS, startCluster } from '../start-cluster';
import { WebhookReceiver } from '../webhook-receiver';
import { ArrivalReceiver } from './arrival-receiver';

const DATABASE = 'bench_delivery';

/**
 * The destinations of the bed, by the type of their events: ONE is one destination, SEVERAL are five. Dead destinations
 * have a third type. No other writes use these types.
 */
export const ONE = { type: 'Communication', ids: ['one'] } as const;
export const SEVERAL = {
  type: 'CommunicationRequest',
  ids: Array.from({ length: 5 }, (_, index) => `several-${index + 1}`),
} as const;

/** One server with its own PostgreSQL, and webhook receivers. */
export interface DeliveryBed extends OwnContender {
  /** Counts the events of the full queues. */
  readonly counter: WebhookReceiver;
  /** Records when each change arrived. */
  readonly arrivals: ArrivalReceiver;
  readonly server: ChildServer;
  /** Starts another server on the same database. */
  readonly startServer: () => Promise<ChildServer>;
  /** Stores a resource with all rights; the path begins below the FHIR base. */
  readonly put: (path: string, body: object) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
}

/** Starts everything in a new folder; `cleanup` stops and removes it. */
export async function setUpDeliveryBed(cleanup: Cleanup): Promise<DeliveryBed> {
  const counter = await cleanup.undoing(WebhookReceiver.start(), (started) => started.stop());
  const arrivals = await cleanup.undoing(ArrivalReceiver.start(), (started) => started.stop());
  const { url: cluster } = await startCluster(cleanup, { ...LARGE_BUFFERS, track_commit_timestamp: 'on' });
  await runQuery(cluster, `create database ${DATABASE}`);
  const databaseUrl = databaseUrlOf(cluster, DATABASE);
  const { secrets, variables } = newServer(databaseUrl);
  const startServer = (): Promise<ChildServer> =>
    cleanup.undoing(ChildServer.start(resolve('dist/src/main.js'), variables), (started) => started.stop());
  const server = await startServer();
  const authorization = `Bearer ${await prepareServer(server.url, secrets, counter.url)}`;
  const client = new HttpClient(server.url);
  const asRoot = async (call: Omit<HttpCall, 'authorization'>): Promise<void> => {
    await succeed(client, { ...call, authorization: { user: 'root', password: secrets.rootSecret } });
  };
  const put = (path: string, body: object): Promise<void> =>
    asRoot({ method: 'PUT', path: `/fhir/${path}`, body: jsonBody(body) });
  const remove = (path: string): Promise<void> => asRoot({ method: 'DELETE', path: `/fhir/${path}` });
  for (const { type, ids } of [ONE, SEVERAL]) {
    await put(`SvcSubscriptionTopic/${type}`, topic(topicOf(type), type));
    for (const id of ids) await put(`SvcTopicDestination/${id}`, destination(topicOf(type), arrivals.urlOf(id)));
  }
  const target = { name: 'server', baseUrl: `${server.url}/fhir`, authorization };
  await loadCharts(target);
  await runQuery(databaseUrl, 'vacuum analyze');
  const { postmasterPid } = await postgresFacts(cluster);
  return {
    ...target,
    databaseUrl,
    pid: server.pid,
    stop: () => server.stop(),
    meter: new CpuMeter(server.pid, postmasterPid),
    counter,
    arrivals,
    server,
    startServer,
    put,
    remove,
  };
}

export const topicOf = (type: string): string => `http://bench.example/topics/${type}`;
