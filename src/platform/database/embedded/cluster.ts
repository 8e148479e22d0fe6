import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StartError } from '../../errors/start-error';
import { findUnprivilegedAccount, isRoot, canReach, type PostgresAccount } from './postgres-account';
import { type PostgresBinaries } from './postgres-binaries';
import { firstErrorIn, runPostgresProgram } from './postgres-program';
import { fallbackFolder, makeRootState } from './root-state';

/** The only role in the cluster, which owns it. */
export const clusterUser = 'svc';

/**
 * The location of a cluster, and the account that runs PostgreSQL. `account` is undefined if it is the account of this
 * process.
 */
export interface ClusterPlace {
  readonly home: string;
  readonly account: PostgresAccount | undefined;
}

export const clusterFolder = (home: string): string => join(home, 'cluster');

/** The file with the password of the cluster's owner. */
export const passwordFile = (home: string): string => join(home, 'password');

/** The ordinary location of a cluster. */
export const clusterHome = (dataDirectory: string): string => join(dataDirectory, 'postgres');

/**
 * Determines the location and account of the cluster of `dataDirectory`. For an ordinary user the location is
 * `postgres` in that folder. For root, the account is the owner of an existing cluster (so that a start with sudo
 * changes no owner), else an unprivileged account. If that account cannot open the data directory, the cluster is in
 * another folder.
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
 * Creates the cluster if it is missing, and returns the password of its owner.
 * @param isDurable false skips the wait for the disk, for tests
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
    // A killed start left this folder. Its initdb may still be writing, so the removal is retried.
    if (name.startsWith(prefix)) await rm(join(parent, name), { recursive: true, maxRetries: 10 });
  }
  const unfinished = await mkdtemp(join(parent, prefix)); // mkdtemp gives the folder the mode 0700
  await writeFile(passwordFile(unfinished), randomBytes(18).toString('base64url'), { mode: 0o600 });
  if (account) {
    await chown(unfinished, account.uid, account.gid);
    await chown(passwordFile(unfinished), account.uid, account.gid);
  }
  const parameters = initdbParameters(unfinished, binaries.majorVersion, isDurable);
  await runPostgresProgram(binaries.initdb, parameters, account).catch((cause: unknown) => {
    throw new StartError(`PostgreSQL could not create a database in ${parent}: ${reasonOf(cause)}`, { cause });
  });
  // The rename makes cluster and password appear together, and only when both are complete.
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
    // With these locales, text is sorted by code point on every machine. The locale of the C library also defines which
    // characters are letters for pg_trgm. C.UTF-8 has all letters, but only Linux is certain to have that locale.
    process.platform === 'linux' ? '--locale=C.UTF-8' : '--locale=C',
    ...(majorVersion >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
    ...(isDurable ? [] : ['--no-sync']),
  ];
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error && 'stderr' in error ? firstErrorIn(String(error.stderr)) : undefined) ?? String(error);

async function ownerOf(path: string): Promise<PostgresAccount> {
  const { uid, gid } = await stat(path);
  return { uid, gid };
}

/**
 * Reads or creates the random identity of a data directory. It is deleted with the directory; otherwise a new directory
 * at the same path would get the old data.
 */
async function readIdentity(directory: string): Promise<string> {
  const file = join(directory, 'postgres-identity');
  if (!existsSync(file)) await writeFile(file, randomBytes(18).toString('base64url'), { mode: 0o600 });
  return readFile(file, 'utf8');
}
