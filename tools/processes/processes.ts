import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ChildServer } from '../bench/child-server';
import { type Cleanup, runUndoing } from '../bench/cleanup';
import { childrenOf, nanosecondsBetween, readPostgres, readProcess } from '../bench/cpu-time';
import { newServer } from '../bench/new-server';
import { connect, postgresFacts } from '../bench/own-database';
import { type Cluster, startCluster } from '../bench/start-cluster';
import { median } from '../bench/statistics';
import { freePorts } from '../failover/programs';
import { readOptions } from '../options';
import { ProgressBar } from '../progress-bar';
import { HaProxy } from './haproxy';
import { Load } from './load';

const USAGE = `npm run processes [-- options]: restarts servers under load, and measures several processes (docs/reliability.md).
  --only=proxy: two servers behind HAProxy are restarted in turns; --only=sighup: a start of two processes replaces them;
  --only=cpu: processor time of two processes against one`;

const SCRIPT = resolve('dist/src/main.js');
/** The drain time of a server: three checks of HAProxy, one every 2 s, with a margin. */
const DRAIN_SECONDS = 8;
/** The pause of a client between two requests. Without it, a busy machine would answer HAProxy's checks too late. */
const PAUSE_MILLISECONDS = 100;
const REQUESTS_OF_A_CLIENT = 200;
/**
 * The warm-up requests of a client, for each process. V8 still optimizes code after 16,000 requests of a process, and a
 * single process gets them in half the time, so with fewer requests its code would be warmer than that of two.
 */
const WARM_UP_REQUESTS_OF_A_CLIENT = 3000;
/** The servers are warmed in turns of so many requests of a client, since V8 drops code that is not used for long. */
const WARM_UP_TURN = 100;
/**
 * The pauses of a client for which CPU time is compared. Without a pause, two processes answer more requests a second
 * than one, so fewer requests share a turn of the event loop. With this pause, both get the same number of requests a
 * second, about half of what one process can answer.
 */
const COMPARED_PAUSES = [0, 16];
const CONNECTIONS = 5000;
const SAMPLE_SECONDS = 20;
const SAMPLE_MILLISECONDS = 10;

const tell = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

interface Bed {
  readonly cluster: Cluster;
  readonly authorization: string;
  start(settings: Readonly<Record<string, string>>): Promise<ChildServer>;
}

async function main(cleanup: Cleanup): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = readOptions(USAGE, { options: { only: text, rounds: text } });
  const rounds = Number(values.rounds ?? 10);
  const cluster = await startCluster(cleanup);
  const { secrets, variables } = newServer(cluster.url);
  const bed: Bed = {
    cluster,
    authorization: `Basic ${Buffer.from(`root:${secrets.rootSecret}`).toString('base64')}`,
    start: (settings) =>
      cleanup.undoing(ChildServer.start(SCRIPT, { ...variables, ...settings }), (server) => server.stop()),
  };
  let failed = 0;
  for (const [name, part] of Object.entries(PARTS)) {
    if (values.only === undefined || values.only === name) failed += await part(bed, rounds, cleanup);
  }
  return failed === 0 ? 0 : 1;
}

/** The tests by their names. Each returns the number of failed requests. */
const PARTS = { proxy: behindProxy, sighup: bySighup, cpu: processorTime };

async function behindProxy(bed: Bed, rounds: number, cleanup: Cleanup): Promise<number> {
  const [first = 0, second = 0, ...own] = await freePorts(4);
  const start = (port: number): Promise<ChildServer> =>
    bed.start({ PORT: String(port), SVC_DRAIN_SECONDS: String(DRAIN_SECONDS) });
  const servers = [await start(first), await start(second)];
  const starting = HaProxy.start(bed.cluster.folder, [first, second], [own[0] ?? 0, own[1] ?? 0]);
  const proxy = await cleanup.undoing(starting, (started) => started.stop());
  await proxy.allUp();
  const load = new Load(() => proxy.url, bed.authorization, PAUSE_MILLISECONDS);
  load.start();
  const progress = new ProgressBar({ label: 'proxy', total: rounds * servers.length });
  for (let round = 0; round < rounds; round++) {
    for (const [index, port] of [first, second].entries()) {
      await servers[index]?.stop();
      servers[index] = await start(port);
      await proxy.allUp();
      progress.advance();
    }
  }
  await load.stop();
  await Promise.all(servers.map((server) => server.stop()));
  return report(`${rounds} rolling restarts of two servers behind HAProxy`, load);
}

async function bySighup(bed: Bed, rounds: number): Promise<number> {
  const server = await bed.start({ SVC_PROCESSES: '2' });
  const load = new Load(() => server.url, bed.authorization);
  load.start();
  const progress = new ProgressBar({ label: 'SIGHUP', total: rounds });
  for (let round = 0; round < rounds; round++) {
    const old = await childrenOf(server.pid);
    process.kill(server.pid, 'SIGHUP');
    for (let isDone = false; !isDone;) {
      await delay(100);
      const present = await childrenOf(server.pid);
      isDone = present.length === old.length && !present.some((pid) => old.includes(pid));
    }
    progress.advance();
  }
  await load.stop();
  await server.stop();
  return report(`${rounds} times SIGHUP for two processes of one start`, load);
}

/**
 * Compares the CPU time of two servers on one database, with one and with two processes. They get the same requests in
 * turns.
 */
async function processorTime(bed: Bed, rounds: number): Promise<number> {
  const { postmasterPid } = await postgresFacts(bed.cluster.url);
  const servers = [await bed.start({ SVC_PROCESSES: '1' }), await bed.start({ SVC_PROCESSES: '2' })];
  let failed = 0;
  const warmUp = new ProgressBar({ label: 'cpu, warm-up', total: WARM_UP_REQUESTS_OF_A_CLIENT / WARM_UP_TURN });
  for (let sent = 0; sent < WARM_UP_REQUESTS_OF_A_CLIENT; sent += WARM_UP_TURN) {
    for (const [index, server] of servers.entries()) {
      const load = new Load(() => server.url, bed.authorization);
      await load.sendAll(WARM_UP_TURN * (index + 1));
      failed += load.failures.length;
    }
    warmUp.advance();
  }
  for (const pause of COMPARED_PAUSES) {
    const loads = servers.map(({ url }) => new Load(() => url, bed.authorization, pause));
    const spent = servers.map((): Spent[] => []);
    const progress = new ProgressBar({ label: `cpu, ${pause} ms`, total: rounds });
    for (let round = 0; round < rounds; round++) {
      for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const [server, load] = [servers[index], loads[index]];
        if (server !== undefined && load !== undefined) spent[index]?.push(await spentBy(server, load, postmasterPid));
      }
      progress.advance();
    }
    tell(comparison(pause, spent));
    failed += loads.reduce((sum, { failures }) => sum + failures.length, 0);
  }
  const [, two] = servers;
  if (two !== undefined) {
    const load = new Load(() => two.url, bed.authorization);
    tell(await acceptCost(two, load));
    tell(`Statements of two processes: ${await waitsOf(bed.cluster.url, load)}`);
    failed += load.failures.length;
  }
  await Promise.all(servers.map((server) => server.stop()));
  return failed;
}

/** CPU time of one request and the number of requests a second. */
interface Spent {
  readonly server: number;
  readonly database: number;
  readonly perSecond: number;
}

/** Sends the requests of one round, and measures the server with all its processes, and PostgreSQL. */
async function spentBy(server: ChildServer, load: Load, postmasterPid: number): Promise<Spent> {
  const pids = [server.pid, ...(await childrenOf(server.pid))];
  const read = async () => ({
    answered: load.answered,
    at: performance.now(),
    server: await Promise.all(pids.map(readProcess)),
    database: await readPostgres(postmasterPid),
  });
  const before = await read();
  await load.sendAll(REQUESTS_OF_A_CLIENT);
  const after = await read();
  const answered = after.answered - before.answered;
  const perRequest = (nanoseconds: number): number => nanoseconds / 1000 / answered;
  return {
    server: perRequest(
      after.server.reduce((sum, one, at) => sum + nanosecondsBetween(before.server[at] ?? new Map(), one), 0),
    ),
    database: perRequest(nanosecondsBetween(before.database, after.database)),
    perSecond: (answered / (after.at - before.at)) * 1000,
  };
}

function comparison(pause: number, spent: readonly (readonly Spent[])[]): string {
  const lines = [`Each client pauses ${pause} ms between two requests:`];
  const parts: readonly (readonly [string, (spent: Spent) => number])[] = [
    ['server', ({ server }) => server],
    ['database', ({ database }) => database],
    ['together', ({ server, database }) => server + database],
  ];
  for (const [name, of] of parts) {
    const [one = 0, two = 0] = spent.map((rounds) => median(rounds.map(of)));
    lines.push(
      `  ${name}: ${one.toFixed(0)} µs of one process, ${two.toFixed(0)} µs of two, ratio ${(two / one).toFixed(2)}`,
    );
  }
  const [one = 0, two = 0] = spent.map((rounds) => median(rounds.map(({ perSecond }) => perSecond)));
  return [...lines, `  requests a second: ${one.toFixed(0)} of one process, ${two.toFixed(0)} of two`].join('\n');
}

/** Measures the process that accepts connections and hands them over to the others. It processes no requests. */
async function acceptCost(server: ChildServer, load: Load): Promise<string> {
  const before = await readProcess(server.pid);
  await load.connect(CONNECTIONS);
  const spent = nanosecondsBetween(before, await readProcess(server.pid)) / 1000 / CONNECTIONS;
  return `New connections cost the process that hands them out ${spent.toFixed(0)} µs each`;
}

/** Samples the load's statements in the database: whether each runs, or what it waits for. */
async function waitsOf(url: string, load: Load): Promise<string> {
  const client = await connect(url);
  const counts = new Map<string, number>();
  let total = 0;
  let locks = { all: 0, shared: 0 };
  load.start();
  for (const endsAt = performance.now() + SAMPLE_SECONDS * 1000; performance.now() < endsAt;) {
    await delay(SAMPLE_MILLISECONDS);
    for (const { wait } of (await client.query<{ wait: string | null }>(ACTIVE)).rows) {
      counts.set(wait ?? 'at work', (counts.get(wait ?? 'at work') ?? 0) + 1);
      total++;
    }
    const [most] = (await client.query<{ all: number; shared: number }>(MOST_LOCKS)).rows;
    if (most !== undefined && most.all > locks.all) locks = most;
  }
  await load.stop();
  await client.end();
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  const parts = sorted.map(([wait, count]) => `${wait} ${((100 * count) / total).toFixed(1)} %`);
  return `${parts.join(', ')}; at most ${locks.all} locks of a transaction, ${locks.shared} of them in the shared table`;
}

const ACTIVE = `select wait_event_type || ':' || wait_event as wait from pg_stat_activity
  where state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid()`;
/**
 * The SQL that counts locks. PostgreSQL takes locks outside its fast path in partitions of the lock table, which all
 * processors share.
 */
const MOST_LOCKS = `select count(*)::integer as all, (count(*) filter (where not fastpath))::integer as shared
  from pg_locks where pid <> pg_backend_pid() group by pid order by 1 desc limit 1`;

function report(what: string, { answered, failures }: Load): number {
  tell(`${what}: ${answered} requests answered, ${failures.length} failed`);
  for (const failure of failures.slice(0, 10)) tell(`  ${failure}`);
  return failures.length;
}

runUndoing(main);
