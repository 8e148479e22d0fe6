import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as Databases from '../../testing/test-databases';
import { buildConsole, compileServer } from './compiled-server';

declare global {
  /** State for `globalTeardown`: jest loads it apart from this file, only the global object is common. */
  var endTestRun: (() => Promise<void>) | undefined;
}

/** Compiles the server that the specs run, and gives them a PostgreSQL with templates of this run. */
export default async function globalSetup(): Promise<void> {
  const build = await compileServer();
  try {
    process.env.TEST_BUILD = build.folder;
    process.env.TEST_ENCRYPTION_KEY = randomBytes(32).toString('base64');
    // Not imported: files of src are those of the compiled server, which is not there before.
    const kit = createRequire(__filename)('../../testing/test-databases') as typeof Databases;
    const [end] = await Promise.all([kit.startTestDatabase(), buildConsole(build.folder)]);
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
