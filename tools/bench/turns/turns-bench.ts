import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Cleanup } from '../cleanup';
import { hasCpuTimes } from '../cpu-time';
import { LoadClient } from '../load-client';
import { setUpServer } from '../test-bed';
import { TURNS_CASES } from './turns-cases';

/** The sizes of bodies in megabytes: a common one, and one near the limit of 20 MiB. */
const SIZES = [1, 19];

const PATIENCE_MILLISECONDS = 30_000;

/**
 * Measures the longest turn of the event loop of a server, for large bodies on every route (docs/performance.md,
 * "Turns").
 * @throws Error where the kernel does not report the CPU time of threads
 */
export async function measureTurns(cleanup: Cleanup): Promise<string> {
  if (!hasCpuTimes()) throw new Error('Turns are measured by /proc, which only Linux has');
  const folder = await cleanup.undoing(mkdtemp(join(tmpdir(), 'turns-')), (made) => rm(made, { recursive: true }));
  const file = join(folder, 'longest');
  const { server } = await setUpServer(cleanup, {
    variables: { NODE_OPTIONS: `--require ${resolve(__dirname, 'turn-meter.js')}`, TURNS_FILE: file },
  });
  const client = new LoadClient({ ...server, baseUrl: new URL(server.baseUrl).origin });
  try {
    const lines = ['size    route                                longest turn, CPU   statuses'];
    for (const megabytes of SIZES) {
      for (const { name, requestsOf } of TURNS_CASES) {
        const statuses: number[] = [];
        const turns: number[] = [];
        for (const request of requestsOf(megabytes)) {
          process.kill(server.pid, 'SIGUSR2');
          const { status } = await client.send(request);
          if (status > 299) throw new Error(`${name}, ${megabytes} MB: answered ${status}, so nothing was measured`);
          statuses.push(status);
          process.kill(server.pid, 'SIGUSR2');
          turns.push(await resultIn(file));
        }
        const longest = `${Math.max(...turns).toFixed(0)} ms`;
        lines.push(`${`${megabytes} MB`.padEnd(7)} ${name.padEnd(36)} ${longest.padStart(17)}   ${statuses.join(' ')}`);
      }
    }
    return lines.join('\n');
  } finally {
    client.close();
  }
}

/** Reads the result that the server writes to the file, and removes the file. */
async function resultIn(file: string): Promise<number> {
  const endsAt = performance.now() + PATIENCE_MILLISECONDS;
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text !== '') {
      await rm(file);
      return Number(text);
    }
    if (performance.now() > endsAt) throw new Error('The server did not write its longest turn');
    await delay(10);
  }
}
