import { createRequire } from 'node:module';
import { compileServer } from './compiled-server';
import type * as TestRun from './test-run';

declare global {
  /** What `globalTeardown` has to undo: jest loads it apart from this file, only the global object is common. */
  var endTestRun: (() => Promise<void>) | undefined;
}

/** Compiles the server that the specs run, and gives them databases. */
export default async function globalSetup(): Promise<void> {
  const build = await compileServer();
  try {
    process.env.TEST_BUILD = build.folder;
    // Not imported: files of src are those of the compiled server, which is not there before.
    const { startTestRun } = createRequire(__filename)('./test-run') as typeof TestRun;
    const end = await startTestRun();
    globalThis.endTestRun = async () => {
      await build.remove();
      await end();
    };
  } catch (error) {
    await build.remove(); // after a failed setup jest skips the teardown
    throw error;
  }
}
