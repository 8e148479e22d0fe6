import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The folder of compiled servers. It is below node_modules, so that a compiled server finds its packages. */
const CACHE = join('node_modules', '.cache');

/**
 * Compiles src once for a test run, for specs that start (and kill) the server in a separate process.
 * @param more other folders, such as `tools`
 */
export async function compileServer(...more: readonly string[]): Promise<{ folder: string; remove(): Promise<void> }> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(process.cwd(), CACHE, 'svc-build-'));
  const swc = join('node_modules', '@swc', 'cli', 'bin', 'swc.js');
  await promisify(execFile)(process.execPath, [
    swc,
    'src',
    ...more,
    '--config-file',
    '.swcrc',
    '--extensions',
    '.ts',
    '-d',
    folder,
  ]);
  await cp(join('src', 'fhir', 'definitions'), join(folder, 'src', 'fhir', 'definitions'), { recursive: true });
  for (const asset of ['openapi/answers.json', 'openapi/examples.json', 'auth/hashing/hash-thread.cjs'])
    await cp(join('src', asset), join(folder, 'src', asset));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Builds the console in the folder of a compiled server, which serves it. */
export async function buildConsole(folder: string): Promise<void> {
  const vite = join('node_modules', 'vite', 'bin', 'vite.js');
  await promisify(execFile)(process.execPath, [vite, 'build', 'console', '--logLevel', 'error'], {
    env: { ...process.env, NODE_ENV: 'production', SVC_CONSOLE_OUT: join(folder, 'console') },
  });
}
