import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StartError } from '../../errors/start-error';
import { findUnprivilegedAccount, isRoot, canReach, type PostgresAccount } from './postgres-account';
import { type PostgresBinaries } from './postgres-binaries';
import { runPostgresProgram } from './postgres-program';
import { fallbackFolder, makeRootState } from './root-state';

/** The only role of the cluster: its owner. */
export const clusterUser = 'svc';

/** Where a cluster lives and who runs it; `account` is undefined when this process runs it as itself. */
export interface ClusterPlace {
  readonly home: string;
  readonly account: PostgresAccount | undefined;
}

/** PGDATA. */
export const clusterFolder = (home: string): string => join(home, 'cluster');

/** Where the password of the owner of the cluster stands. */
export const passwordFile = (home: string): string => join(home, 'password');

/** The home of a cluster whose data directory the account of PostgreSQL can reach. */
export const clusterHome = (dataDirectory: string): string => join(dataDirectory, 'postgres');

/**
 * Finds where the cluster of `dataDirectory` lives or shall live. An ordinary user gets `postgres` in it. Root gets the
 * account that owns the cluster already (so that a start with sudo changes no owner) or an unprivileged one, and a
 * folder elsewhere when that account cannot reach the data directory.
 */
export async function findClusterPlace(dataDirectory: string, log: (line: string) => void): Promise<ClusterPlace> {
  const directory = await realpath(dataDirectory);
  const home = clusterHome(directory);
  if (!isRoot()) return { home, account: undefined };
  if (existsSync(home)) return { home, account: await ownerOf(home) };
  const account = await findUnprivilegedAccount();
  if (await canReach(account, directory)) return { home, account };
  await makeRootState();
  const fallback = fallbackFolder(directory, await readIdentity(directory));
  log(`PostgreSQL keeps its data in ${fallback}: its account (uid ${account.uid}) cannot reach ${directory}`);
  return { home: fallback, account: existsSync(fallback) ? await ownerOf(fallback) : account };
}

/**
 * Makes the cluster when it is missing.
 * @param isDurable false skips the wait for the disk
 * @returns the password of its owner
 */
export async function openCluster(
  place: ClusterPlace,
  binaries: PostgresBinaries,
  isDurable: boolean,
): Promise<string> {
  const { home } = place;
  if (!existsSync(home)) await makeCluster(place, binaries, isDurable);
  return readFile(passwordFile(home), 'utf8').catch((cause: unknown) => {
    const message = `${home} belongs to another user. Start as that user, or set DATA_DIR to another folder.`;
    throw new StartError(message, { cause });
  });
}

async function makeCluster(
  { home, account }: ClusterPlace,
  binaries: PostgresBinaries,
  isDurable: boolean,
): Promise<void> {
  const parent = dirname(home);
  const prefix = `${basename(home)}.new-`;
  for (const name of await readdir(parent)) {
    // left by a start that was killed; its initdb may still be writing
    if (name.startsWith(prefix)) await rm(join(parent, name), { recursive: true, maxRetries: 10 });
  }
  const unfinished = await mkdtemp(join(parent, prefix)); // has mode 0700
  await writeFile(passwordFile(unfinished), randomBytes(18).toString('base64url'), { mode: 0o600 });
  if (account) {
    await chown(unfinished, account.uid, account.gid);
    await chown(passwordFile(unfinished), account.uid, account.gid);
  }
  await runPostgresProgram(binaries.initdb, initdbParameters(unfinished, binaries.majorVersion, isDurable), account);
  // Cluster and password appear together and only when complete.
  await rename(unfinished, home);
}

function initdbParameters(home: string, majorVersion: number, isDurable: boolean): string[] {
  return [
    `--pgdata=${clusterFolder(home)}`,
    `--username=${clusterUser}`,
    `--pwfile=${passwordFile(home)}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-instructions',
    // Text sorts by code point on every machine. The locale of the C library decides what pg_trgm takes for a letter:
    // C.UTF-8 knows all of them, but only Linux is sure to have it.
    process.platform === 'linux' ? '--locale=C.UTF-8' : '--locale=C',
    ...(majorVersion >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
    ...(isDurable ? [] : ['--no-sync']),
  ];
}

async function ownerOf(path: string): Promise<PostgresAccount> {
  const { uid, gid } = await stat(path);
  return { uid, gid };
}

/** A random word that dies with the data directory; else a new one at the same path would inherit old data. */
async function readIdentity(directory: string): Promise<string> {
  const file = join(directory, 'postgres-identity');
  if (!existsSync(file)) await writeFile(file, randomBytes(18).toString('base64url'), { mode: 0o600 });
  return readFile(file, 'utf8');
}
