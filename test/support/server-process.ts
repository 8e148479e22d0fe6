import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { throughPooler } from '../../testing/databases';
import { eventually } from '../../testing/eventually';

/** The longest start of two processes: 4 s of CPU, on a machine that gives them a fortieth of a core. */
const START_MILLISECONDS = 160_000;

/** The server in a separate process, started like a user starts it. */
export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: readonly string[],
    readonly url: string,
  ) {}

  /**
   * Starts with exactly these environment variables; fails if the server does not listen.
   * @param flags flags of Node in addition to those of `npm start`
   */
  static async start(
    environment: Readonly<Record<string, string>>,
    flags: readonly string[] = [],
  ): Promise<ServerProcess> {
    const { child, lines } = launch(environment, flags);
    const url = await eventually(
      'the server listens',
      () => {
        if (child.exitCode !== null) throw new Error(`The server ended: ${lines.join('')}`);
        return /Listening on (\S+)/.exec(lines.join(''))?.[1];
      },
      START_MILLISECONDS,
    ).catch((error: unknown) => {
      child.kill('SIGKILL'); // a server that listens too late would run on after the specs
      throw error;
    });
    return new ServerProcess(child, lines, url);
  }

  /** Starts a server that is expected to end by itself. */
  static async startAndFail(
    environment: Readonly<Record<string, string>>,
  ): Promise<{ exitCode: number; output: string }> {
    const { child, lines } = launch(environment);
    const [exitCode] = (await once(child, 'exit')) as [number];
    return { exitCode, output: lines.join('') };
  }

  get output(): string {
    return this.lines.join('');
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Waits until the process ends by itself, and returns the exit code. */
  async ended(): Promise<number | null> {
    if (this.child.exitCode === null) await once(this.child, 'exit');
    return this.child.exitCode;
  }

  signal(signal: 'SIGHUP'): void {
    this.child.kill(signal);
  }

  /** Sends the signal, waits for the end, and returns the exit code; null after a kill. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    if (!this.isRunning) return this.child.exitCode;
    const ended = once(this.child, 'exit');
    this.child.kill(signal);
    await ended;
    return this.child.exitCode;
  }
}

/** The messages that a server logs at SIGTERM; without the time that the stop took. */
export const stopLines = (shutdownSeconds: number): readonly string[] => [
  `SIGTERM: the port closes in 0 s (SVC_DRAIN_SECONDS), then requests and deliveries in progress have ${shutdownSeconds} s to end (SVC_SHUTDOWN_SECONDS)`,
  'Stopped after … s',
];

export const stopLinesOf = (output: string): readonly string[] =>
  output
    .split('\n')
    .filter((line) => line.includes('"context":"Shutdown"'))
    .map((line) => (JSON.parse(line) as { message: string }).message.replace(/after [\d.]+ s$/, 'after … s'));

function launch(
  environment: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): { child: ChildProcess; lines: string[] } {
  const { DATABASE_URL: direct = '' } = environment;
  const pooled = throughPooler(direct);
  const database = pooled === direct ? {} : { SVC_DATABASE_DIRECT_URL: direct, DATABASE_URL: pooled };
  const main = join(process.env.TEST_BUILD ?? '', 'src', 'main.js');
  const child = spawn(process.execPath, [...nodeFlags(), ...flags, main], {
    env: { PATH: process.env.PATH, SVC_PROCESSES: '1', ...environment, ...database },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
  return { child, lines };
}

/** The flags of Node with which `npm start` runs the server. They bound its memory. */
function nodeFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  return [...new Set(scripts.start.match(/--\S+/g))];
}
