import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type * as Databases from '../../testing/test-databases';
import { clustersFolder } from './clusters-folder';

declare global {
  /** State for `globalTeardown`. Jest loads both files separately, so they share only the global object. */
  var endTestRun: (() => Promise<void>) | undefined;
}

interface Build {
  readonly buildConsole: (folder: string) => void;
  readonly compile: (folders: readonly string[], into: string) => void;
  readonly newFolder: () => string;
}

/**
 * Compiles the server, its tools and the test kit for the specs, and starts PostgreSQL with the template databases of
 * this run.
 */
export default async function globalSetup(): Promise<void> {
  const load = createRequire(__filename);
  const { buildConsole, compile, newFolder } = load('../../tools/build.cjs') as Build;
  const build = newFolder();
  const removeBuild = (): Promise<void> => rm(build, { recursive: true, force: true });
  try {
    compile(['src', 'testing', 'tools'], build);
    buildConsole(build);
    process.env.TEST_BUILD = build;
    process.env.TEST_ENCRYPTION_KEY = randomBytes(32).toString('base64');
    // `require` and no `import`: jest maps files of src to the compiled server, which exists only now.
    const kit = load('../../testing/test-databases') as typeof Databases;
    const end = await kit.startTestDatabaseIn(await clustersFolder(kit.clustersOfProject()));
    globalThis.endTestRun = async () => {
      await removeBuild();
      await kit.dropTemplates(); // the next run may have another build of this version
      await end();
    };
    await kit.cloneDatabase('started').then((database) => database.drop());
  } catch (error) {
    await (globalThis.endTestRun ?? removeBuild)(); // after a failed setup jest skips the teardown
    throw error;
  }
}
