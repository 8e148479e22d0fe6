import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterFolder, clusterHome } from '../../src/platform/database/embedded/cluster';
import { takeDataDirectory } from '../../src/platform/database/embedded/data-directory';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { endLeftoverPostmaster } from '../../src/platform/database/embedded/leftover-postmaster';
import { type ClonedDatabase, copyDatabase } from './clone-database';
import { dropDatabase } from './databases';
import { makeTemplateDatabase } from './template-database';
import { startTestApp } from './test-app';

/** The folders of this user's runs. */
const prefix = `svc-test-${process.getuid?.() ?? ''}-`;

/** Gives every run of the tests one PostgreSQL of its own (or that of TEST_DATABASE_URL) with migrated templates. */
export async function startTestRun(): Promise<() => Promise<void>> {
  const server = await openServer();
  try {
    process.env.TEST_ENCRYPTION_KEY = randomBytes(32).toString('base64');
    const [template, started] = await makeTemplates(server.url);
    const end = async (): Promise<void> => {
      await started.drop();
      await dropDatabase(server.url, template);
      await server.close();
    };
    process.env.TEST_ADMIN_URL = server.url;
    process.env.TEST_TEMPLATE = template;
    process.env.TEST_STARTED_TEMPLATE = started.name;
    return end;
  } catch (error) {
    await server.close(); // after a failed setup jest skips the teardown
    throw error;
  }
}

/** The second is what a first start leaves: keys, the first Client and User. Most specs begin there, which saves them half a second each. */
async function makeTemplates(adminUrl: string): Promise<[string, ClonedDatabase]> {
  const template = await makeTemplateDatabase(adminUrl);
  const started = await copyDatabase(adminUrl, template);
  const app = await startTestApp({ databaseUrl: started.url });
  await app.get('/Patient'); // what its first writes outdated is read again before it ends
  await app.close();
  return [template, started];
}

async function openServer(): Promise<{ url: string; close(): Promise<void> }> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined) return { url: given, close: () => Promise.resolve() };
  await removeAbandonedServers();
  // A folder for each run, and not in the checkout: runs do not meet, and the account of PostgreSQL can reach it.
  const directory = await mkdtemp(join(tmpdir(), prefix));
  await chmod(directory, 0o755);
  const server = await startEmbeddedPostgres({
    dataDirectory: directory,
    isDurable: false,
    settings: { max_connections: '300', max_prepared_transactions: '10' },
  });
  return {
    url: server.url,
    close: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true }); // another run may be at it already
    },
  };
}

/** A run that ended by Ctrl-C or kill -9 leaves its server behind: what nobody holds is ended and removed. */
async function removeAbandonedServers(): Promise<void> {
  const temporary = await realpath(tmpdir()); // as the server that was left behind knows it
  for (const name of await readdir(temporary)) {
    const directory = join(temporary, name);
    const home = clusterHome(directory);
    // Without a cluster it may be a run that is about to take its folder.
    if (!name.startsWith(prefix) || !existsSync(home)) continue;
    const taken = await takeDataDirectory(directory).catch(() => undefined);
    if (!taken) continue;
    await endLeftoverPostmaster(clusterFolder(home));
    await rm(directory, { recursive: true, force: true });
    await taken.release();
  }
}
