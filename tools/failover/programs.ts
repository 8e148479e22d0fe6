import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type PostgresAccount } from '../../src/platform/database/embedded/postgres-account';

/** Debian's folder with the programs of each PostgreSQL version. */
const POSTGRES_VERSIONS = '/usr/lib/postgresql';

const STOP_SECONDS = 30;

/** @throws Error with one sentence that names the Debian package of a missing program */
export function programPath(name: string, debianPackage: string): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined)
    throw new Error(`The program ${name} is missing: install it (Debian: apt-get install ${debianPackage}).`);
  return found;
}

/**
 * Returns the folder of the newest PostgreSQL with all its programs.
 * @throws Error with one sentence if there is none
 */
export async function postgresFolder(): Promise<string> {
  const versions = await readdir(POSTGRES_VERSIONS).catch(() => []);
  const [newest] = versions
    .filter((version) => existsSync(join(POSTGRES_VERSIONS, version, 'bin', 'pg_rewind')))
    .sort((one, other) => Number(other) - Number(one));
  if (newest === undefined)
    throw new Error('PostgreSQL with pg_rewind is missing: install it (Debian: apt-get install postgresql).');
  return join(POSTGRES_VERSIONS, newest, 'bin');
}

/** A program that runs until it is stopped; its output goes to a file. */
export class Program {
  private constructor(private readonly child: ChildProcess) {}

  static start(
    path: string,
    parameters: readonly string[],
    { account, folder, log }: { account: PostgresAccount | undefined; folder: string; log: string },
  ): Program {
    const output = openSync(join(folder, log), 'a', 0o644);
    const child = spawn(path, parameters, {
      ...account,
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder },
      stdio: ['ignore', output, output],
    });
    child.on('error', () => undefined);
    return new Program(child);
  }

  /** The process id; undefined once the program has ended. */
  get pid(): number | undefined {
    return this.child.exitCode === null && this.child.signalCode === null ? this.child.pid : undefined;
  }

  /** Stops the program and waits for its end; kills it after a long wait. */
  async stop(): Promise<void> {
    if (this.pid === undefined) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const isLate = delay(STOP_SECONDS * 1000, true, { ref: false });
    if ((await Promise.race([ended, isLate])) === true) this.child.kill('SIGKILL');
    await ended;
  }
}

/** Sends a signal to processes that may have ended. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      continue; // it has ended
    }
  }
}

/**
 * The process ids of the PostgreSQL in a data directory: of the postmaster and its children, or only of processes with
 * this title. Empty if PostgreSQL does not run.
 */
export async function postgresPids(dataDirectory: string, title = ''): Promise<number[]> {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  const postmaster = text.split('\n')[0] ?? '';
  if (!/^\d+$/.test(postmaster)) return [];
  const parameters = ['-o', 'pid=,args=', '--pid', postmaster, '--ppid', postmaster];
  const { stdout } = await promisify(execFile)('ps', parameters).catch(() => ({ stdout: '' }));
  return stdout
    .split('\n')
    .filter((line) => line.includes(title))
    .map((line) => parseInt(line, 10))
    .filter((pid) => pid > 0);
}

/** Ports that are free now, all distinct. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}
