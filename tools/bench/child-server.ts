import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const STOP_SECONDS = 40;

/** A server in a separate process. It prints "Listening on http://…" to standard output when it listens. */
export class ChildServer {
  private constructor(
    private readonly child: ChildProcess,
    readonly pid: number,
    readonly url: string,
    /** Lines of the server's standard output. */
    readonly written: readonly string[],
  ) {}

  /**
   * Runs a compiled script. Its environment has these variables and, of the parent's, only the path. Its standard error
   * is shown or ignored.
   * @throws Error with the output of the script when it ends instead of listening.
   */
  static async start(
    script: string,
    variables: Readonly<Record<string, string>>,
    errors: 'inherit' | 'ignore' = 'inherit',
  ): Promise<ChildServer> {
    const child = spawn(process.execPath, [...(await nodeFlagsOf(script)), script], {
      env: { PATH: process.env.PATH, ...oneProcessOf(script), ...variables },
      stdio: ['ignore', 'pipe', errors],
    });
    const written: string[] = [];
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        written.push(line);
        const found = /^Listening on (http:\S+)/.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
      child.once('error', reject).once('exit', () => {
        reject(new Error(`${script} ended before it listened:\n${written.join('\n')}`));
      });
    });
    return new ChildServer(child, child.pid ?? 0, url, written);
  }

  /** Kills the server as a crash would. */
  async kill(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const killing = setTimeout(() => this.child.kill('SIGKILL'), STOP_SECONDS * 1000);
    await ended;
    clearTimeout(killing);
  }
}

/**
 * The variable that makes the server run in one process, which is what benches measure. Builds before `SVC_PROCESSES`
 * would refuse the name, so they do not get it.
 */
const oneProcessOf = (script: string): Readonly<Record<string, string>> =>
  existsSync(join(dirname(script), 'platform', 'config', 'processes.js')) ? { SVC_PROCESSES: '1' } : {};

/** Runs the server with the flags of `npm start` of its build; other scripts have no flags. */
async function nodeFlagsOf(script: string): Promise<readonly string[]> {
  const root = /^(.*)dist\/src\/main\.js$/.exec(script)?.[1];
  if (root === undefined) return [];
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return scripts.start.match(/--\S+(?= (?:--\S+ )*dist\/src\/main\.js$)/g) ?? [];
}
