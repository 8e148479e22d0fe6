import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as Databases from '../../testing/test-databases';
import { clustersFolder } from './clusters-folder';
import { buildConsole, compileServer } from './compiled-server';

declare global {
  /** State for `globalTeardown`. Jest loads both files separately, so they share only the global object. */
  var endTestRun: (() => Promise<void>) | undefined;
}

/** Compiles the server for the specs, and starts PostgreSQL with the template databases of this run. */
export default async function globalSetup(): Promise<void> {
  const build = await compileServer();
  try {
    process.env.TEST_BUILD = build.folder;
    process.env.TEST_ENCRYPTION_KEY = randomBytes(32).toString('base64');
    // `require` and no `import`: jest maps files of src to the compiled server, which exists only now.
    const kit = createRequire(__filename)('../../testing/test-databases') as typeof Databases;
    const folder = await clustersFolder(kit.clustersOfProject());
    const [end] = await Promise.all([kit.startTestDatabaseIn(folder), buildConsole(build.folder)]);
    globalThis.endTestRun = async () => {
      await build.remove();
      await kit.dropTemplates(); // the next run may have another build of this version
      await end();
    };
    await kit.cloneDatabase('started').then((database) => database.drop());
  } catch (error) {
    await (globalThis.endTestRun ?? build.remove)(); // after a failed setup jest skips the teardown
    throw error;
  }
}
