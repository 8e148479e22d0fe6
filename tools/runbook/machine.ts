import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  findUnprivilegedAccount,
  isRoot,
  type PostgresAccount,
} from '../../src/platform/database/embedded/postgres-account';
import { type Cleanup } from '../bench/cleanup';
import { freePorts, postgresFolder, postgresPids, signalAll } from '../failover/programs';
import { type Run } from './how-to';

export type Variables = Readonly<Record<string, string>>;

const STEP_MILLISECONDS = 120_000;

/** A temporary folder with a separate PostgreSQL, and the variables that the code blocks use. */
export class Machine {
  private constructor(
    readonly variables: Variables,
    private readonly folder: string,
    private readonly binaries: string,
    private readonly account: PostgresAccount | undefined,
    private readonly urlOn: (port: string, database?: string) => string,
  ) {}

  static async start(cleanup: Cleanup): Promise<Machine> {
    const binaries = await postgresFolder();
    const account = isRoot() ? await findUnprivilegedAccount() : undefined;
    const folder = await cleanup.undoing(mkdtemp(join(tmpdir(), 'svc-runbook-')), (path) =>
      rm(path, { recursive: true, force: true }),
    );
    await chmod(folder, 0o755);
    if (account !== undefined) await chown(folder, account.uid, account.gid);
    const [primaryPort = 0, standbyPort = 0] = await freePorts(2);
    const password = randomBytes(12).toString('hex');
    const urlOn = (port: string, database = 'postgres'): string =>
      `postgresql://svc:${password}@127.0.0.1:${port}/${database}`;
    const inside = (name: string): string => join(folder, name);
    const variables = {
      ...{ PRIMARY_DATA: inside('primary'), STANDBY_DATA: inside('standby'), RESTORED_DATA: inside('restored') },
      ...{ BACKUP: inside('backup'), ARCHIVE: inside('archive'), REPLICATOR_PASSWORD: randomBytes(12).toString('hex') },
      ...{ PRIMARY_URL: urlOn(String(primaryPort)), STANDBY_URL: urlOn(String(standbyPort)) },
      ...{ PRIMARY_HOST: '127.0.0.1', PRIMARY_PORT: String(primaryPort), STANDBY_PORT: String(standbyPort) },
    };
    const machine = new Machine(variables, folder, binaries, account, urlOn);
    await cleanup.undoing(machine.asDatabase()(await machine.firstCluster(password)), async () => {
      for (const name of ['primary', 'standby', 'restored']) await machine.killDatabase(name);
      await delay(500);
    });
    return machine;
  }

  /** The URL of the first cluster, with the name of a database if one is given. */
  primary(database?: string): string {
    return this.urlOn(this.variables.PRIMARY_PORT ?? '', database);
  }

  get anyHost(): string {
    const { PRIMARY_PORT = '', STANDBY_PORT = '' } = this.variables;
    const url = this.urlOn(`${STANDBY_PORT},127.0.0.1:${PRIMARY_PORT}`);
    return `${url}?target_session_attrs=read-write`;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async killDatabase(name: string): Promise<void> {
    signalAll(await postgresPids(this.path(name)), 'SIGKILL');
  }

  /** Runs scripts under PostgreSQL's account, in the folder. */
  asDatabase(more: Variables = {}): Run {
    return this.runIn(this.folder, { ...this.account, HOME: this.folder }, more);
  }

  /** Runs scripts as an operator, in this checkout. */
  asOperator(more: Variables): Run {
    return this.runIn(process.cwd(), {}, more);
  }

  private runIn(
    cwd: string,
    { HOME = process.env.HOME ?? '', ...account }: Partial<PostgresAccount> & { HOME?: string },
    more: Variables,
  ): Run {
    return async (script) => {
      const env = { PATH: `${this.binaries}:${process.env.PATH ?? ''}`, HOME, ...this.variables, ...more };
      const options = { ...account, cwd, env, timeout: STEP_MILLISECONDS };
      return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options)).stdout;
    };
  }

  /** Returns a script that creates the cluster of `PRIMARY_DATA` and starts it. */
  private async firstCluster(password: string): Promise<string> {
    const file = this.path('password');
    await writeFile(file, password, { mode: 0o644 });
    await mkdir(this.path('archive'), { mode: 0o777 });
    await chmod(this.path('archive'), 0o777);
    return `initdb --pgdata="$PRIMARY_DATA" --username=svc --pwfile="${file}" --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
    echo "unix_socket_directories = '${this.folder}'" >> "$PRIMARY_DATA/postgresql.conf"
    pg_ctl start --wait --silent --pgdata="$PRIMARY_DATA" --log="$PRIMARY_DATA.log" --options="-p $PRIMARY_PORT"`;
  }
}
