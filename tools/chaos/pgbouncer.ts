import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePorts } from '../failover/programs';

/** The user id of the account `nobody`, since PgBouncer does not run as root. */
const NOBODY = 65_534;

export interface PoolerProgram {
  readonly program: string;
  /** `pool_mode`. */
  readonly mode: string;
}

export interface PgBouncer {
  /** The target's URL, through PgBouncer. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts PgBouncer in front of the database at `targetUrl`, with its files in `folder`. */
export async function startPgBouncer(
  { program, mode }: PoolerProgram,
  targetUrl: string,
  folder: string,
): Promise<PgBouncer> {
  const url = new URL(targetUrl);
  const [port] = await freePorts(1);
  const settings = join(folder, 'pgbouncer.ini');
  await writeFile(
    settings,
    `[databases]
* = host=${url.hostname} port=${url.port} user=${url.username} password=${decodeURIComponent(url.password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 40
${mode === 'transaction' ? 'max_prepared_statements = 2000' : ''}
server_login_retry = 1
`,
  );
  await chmod(settings, 0o644);
  const account = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(program, ['-q', settings], { stdio: 'ignore', ...account });
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', () => {
      reject(new Error(`--pooler names no PgBouncer that can be run: ${program}`));
    });
    child.once('exit', (code) => {
      reject(new Error(`PgBouncer ended with ${code}`));
    });
  });
  url.host = `127.0.0.1:${port}`;
  await Promise.race([failed, answers(url.href)]);
  failed.catch(() => undefined);
  return {
    url: url.href,
    stop: async () => {
      if (child.exitCode !== null || !child.kill('SIGKILL')) return;
      await once(child, 'exit');
    },
  };
}

async function answers(url: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 1000 });
    client.on('error', () => undefined); // makes `connect` fail too
    try {
      await client.connect();
      return;
    } catch (error) {
      if (tries === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
