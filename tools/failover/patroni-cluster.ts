import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  findUnprivilegedAccount,
  isRoot,
  type PostgresAccount,
} from '../../src/platform/database/embedded/postgres-account';
import { type Cleanup } from '../bench/cleanup';
import { Program, freePorts, postgresFolder, postgresPids, programPath, signalAll } from './programs';

/** Seconds without a heartbeat after which a primary is replaced. */
export const TTL_SECONDS = 20;

const LOOP_SECONDS = 5;
const READY_SECONDS = 180;

/** The time in which three checks of the standby fail. Until then, HAProxy sends connections to both nodes. */
const PROXY_SECONDS = 12;

interface Node {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly dataDirectory: string;
  patroni: Program;
}

/** A node in the form of Patroni's `GET /cluster`. */
interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
  readonly lag?: number | string;
}

/** Two PostgreSQL nodes under Patroni, with etcd, and HAProxy on request. */
export class PatroniCluster {
  private constructor(
    private readonly nodes: readonly [Node, Node],
    private readonly isSynchronous: boolean,
    private readonly startPatroni: (node: Node) => Program,
    private readonly password: string,
    private readonly proxyPort: number | undefined,
  ) {}

  /** @throws Error with one sentence if a program is missing */
  static async start(
    { isSynchronous, usesProxy }: { isSynchronous: boolean; usesProxy: boolean },
    cleanup: Cleanup,
  ): Promise<PatroniCluster> {
    const patroni = programPath('patroni', 'patroni');
    const etcd = programPath('etcd', 'etcd-server');
    const haproxy = usesProxy ? programPath('haproxy', 'haproxy') : '';
    const binaries = await postgresFolder();
    const account = isRoot() ? await findUnprivilegedAccount() : undefined;
    const folder = await cleanup.undoing(makeFolder(account), (path) => rm(path, { recursive: true, force: true }));
    const [etcdPort, peerPort, proxyPort, port1, rest1, port2, rest2] = (await freePorts(7)) as [
      ...[number, number, number, number, number, number, number],
    ];
    const run = (path: string, parameters: readonly string[], log: string): Program =>
      Program.start(path, parameters, { account, folder, log });
    await cleanup.undoing(run(etcd, etcdParameters(join(folder, 'etcd'), etcdPort, peerPort), 'etcd.log'), (program) =>
      program.stop(),
    );
    const password = randomBytes(12).toString('hex');
    const startPatroni = ({ name }: Pick<Node, 'name'>): Program =>
      run(patroni, [join(folder, `${name}.yml`)], `${name}.log`);
    const nodes: Node[] = [];
    for (const [index, [port, restPort]] of [[port1, rest1] as const, [port2, rest2] as const].entries()) {
      const name = `node${index + 1}`;
      const place = { name, port, restPort, dataDirectory: join(folder, name) };
      // Patroni reads YAML, and JSON is valid YAML.
      const settings = settingsOf(place, { etcdPort, binaries, folder, password, isSynchronous });
      await writeFile(join(folder, `${name}.yml`), JSON.stringify(settings));
      const node = await cleanup.undoing({ ...place, patroni: startPatroni(place) }, async (started) => {
        await wake(started);
        await started.patroni.stop();
        signalAll(await postgresPids(started.dataDirectory), 'SIGKILL');
      });
      nodes.push(node);
    }
    const pair = nodes as [Node, Node];
    if (usesProxy) {
      const file = join(folder, 'haproxy.cfg');
      await writeFile(file, proxySettings(pair, proxyPort));
      await cleanup.undoing(run(haproxy, ['-f', file], 'haproxy.log'), (program) => program.stop());
    }
    const cluster = new PatroniCluster(pair, isSynchronous, startPatroni, password, usesProxy ? proxyPort : undefined);
    await cluster.isReady();
    if (usesProxy) await delay(PROXY_SECONDS * 1000);
    return cluster;
  }

  /** The database URL for servers: that of HAProxy if there is one, else of both nodes. */
  url(database: string): string {
    return this.proxyPort === undefined
      ? this.directUrl(database)
      : this.urlAt(`127.0.0.1:${this.proxyPort}/${database}`);
  }

  /** The URL of both nodes. */
  directUrl(database: string): string {
    const hosts = this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return this.urlAt(`${hosts}/${database}?target_session_attrs=read-write`);
  }

  /** Waits until there is a primary and a standby that may replace it. Returns the timeline. */
  async isReady(): Promise<number> {
    const endsAt = performance.now() + READY_SECONDS * 1000;
    for (;;) {
      const members = await this.members();
      const primary = members.find(({ role, state }) => role === 'leader' && state === 'running');
      const standby = members.find(
        ({ role, timeline, lag }) =>
          role === (this.isSynchronous ? 'sync_standby' : 'replica') && timeline === primary?.timeline && lag === 0,
      );
      if (primary !== undefined && standby !== undefined) return primary.timeline ?? 0;
      if (performance.now() > endsAt) throw new Error(`The cluster does not get ready: ${JSON.stringify(members)}`);
      await delay(250);
    }
  }

  /** Promotes the standby, as for a planned change. */
  async switchover(): Promise<void> {
    const [primary, standby] = await this.roles();
    const answer = await fetch(`http://127.0.0.1:${primary.restPort}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: primary.name, candidate: standby.name }),
    });
    if (!answer.ok) throw new Error(`The switchover was refused: ${await answer.text()}`);
  }

  /** Kills all processes of the primary's machine at once. Returns a function that starts it again. */
  async killPrimary(): Promise<() => Promise<void>> {
    const [primary] = await this.roles();
    signalAll(await pidsOf(primary), 'SIGKILL');
    return () => {
      primary.patroni = this.startPatroni(primary);
      return Promise.resolve();
    };
  }

  /**
   * Freezes all processes of the primary's machine; their connections stay open. Returns a function that continues
   * them.
   */
  async freezePrimary(): Promise<() => Promise<void>> {
    const [primary] = await this.roles();
    signalAll(await pidsOf(primary), 'SIGSTOP');
    return () => wake(primary);
  }

  /** Stops replication to the standby, until the primary continues or is started again. */
  async cutReplication(): Promise<void> {
    const [primary] = await this.roles();
    signalAll(await postgresPids(primary.dataDirectory, 'walsender'), 'SIGSTOP');
  }

  /** Waits until another node is the primary. */
  async isReplaced(timeline: number): Promise<void> {
    while (!(await this.members()).some((member) => member.role === 'leader' && (member.timeline ?? 0) > timeline))
      await delay(250);
  }

  private async roles(): Promise<readonly [primary: Node, standby: Node]> {
    const primaryName = (await this.members()).find(({ role }) => role === 'leader')?.name;
    const [first, second] = this.nodes;
    return first.name === primaryName ? [first, second] : [second, first];
  }

  /** The nodes of the cluster, as the first reachable node returns them. */
  private async members(): Promise<readonly Member[]> {
    const asked = this.nodes.map(async ({ restPort }) => {
      const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: AbortSignal.timeout(2000) });
      return ((await answer.json()) as { members: Member[] }).members;
    });
    return Promise.any(asked).catch(() => []);
  }

  private urlAt(rest: string): string {
    return `postgresql://svc:${this.password}@${rest}`;
  }
}

async function pidsOf({ patroni, dataDirectory }: Node): Promise<number[]> {
  const postgres = await postgresPids(dataDirectory);
  return patroni.pid === undefined ? postgres : [patroni.pid, ...postgres];
}

async function wake(node: Node): Promise<void> {
  signalAll((await pidsOf(node)).reverse(), 'SIGCONT');
}

async function makeFolder(account: PostgresAccount | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-failover-'));
  await chmod(folder, 0o755);
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  return folder;
}

function etcdParameters(data: string, port: number, peerPort: number): string[] {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return [
    '--enable-v2',
    ...['--name', 'one', '--data-dir', data, '--initial-cluster', `one=${peer}`],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
  ];
}

function settingsOf(
  { name, port, restPort, dataDirectory }: Omit<Node, 'patroni'>,
  {
    etcdPort,
    binaries,
    folder,
    password,
    isSynchronous,
  }: { etcdPort: number; binaries: string; folder: string; password: string; isSynchronous: boolean },
): object {
  const [rest, postgres] = [`127.0.0.1:${restPort}`, `127.0.0.1:${port}`];
  const role = { username: 'svc', password };
  return {
    scope: 'svc',
    name,
    restapi: { listen: rest, connect_address: rest },
    // `etcd` and not `etcd3`: with `etcd3`, Patroni 3.0 sometimes refuses its own change of the synchronous standby
    // forever ("updated by someone else").
    etcd: { hosts: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ...{ ttl: TTL_SECONDS, loop_wait: LOOP_SECONDS, retry_timeout: LOOP_SECONDS },
        ...{ synchronous_mode: isSynchronous, maximum_lag_on_failover: 2 ** 30 },
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 200, wal_keep_size: '512MB' } },
      },
      initdb: ['data-checksums', { encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      ...{ listen: postgres, connect_address: postgres, data_dir: dataDirectory, bin_dir: binaries },
      pgpass: join(folder, `${name}.pgpass`),
      authentication: { superuser: role, replication: { ...role, username: 'replicator' }, rewind: role },
      parameters: { unix_socket_directories: folder },
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication replicator 127.0.0.1/32 scram-sha-256'],
    },
  };
}

/** The configuration of HAProxy. It asks the REST API of Patroni which node is the primary. */
const proxySettings = (nodes: readonly Node[], port: number): string => `
global
  maxconn 400
defaults
  mode tcp
  timeout connect 4s
  timeout client 30m
  timeout server 30m
  timeout check 5s
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 3s fall 3 rise 2 on-marked-down shutdown-sessions
${nodes.map(({ name, port: to, restPort }) => `  server ${name} 127.0.0.1:${to} check port ${restPort}`).join('\n')}
`;
