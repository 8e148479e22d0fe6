import cluster from 'node:cluster';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../testing/eventually';
import { type Sample } from '../metrics/metric-family';
import { Workers } from './workers';

/**
 * Serves nothing, and reports a counter of 5. The file `order` beside it may order a process to end instead of its
 * answer to a read, or not to end its start.
 */
const SCRIPT = `
  const { readFileSync, writeFileSync } = require('node:fs');
  const isOrdered = (order) => readFileSync(__dirname + '/order', 'utf8') === order;
  const isNext = process.env._SVC_WORKER === 'next';
  if (isOrdered('start slowly')) {
    writeFileSync(__dirname + '/starting', String(process.pid));
    setInterval(() => undefined, 1000);
  } else {
    process.on('message', ({ kind, id, of }) => {
      if (kind === 'retire' && isOrdered('end')) process.kill(process.pid, 'SIGKILL');
      else if (kind !== 'request') process.exit(0);
      if (isNext && of === 'process' && isOrdered('end')) process.kill(process.pid, 'SIGKILL');
      const samples = [{ value: of === 'process' ? 5 : 0 }, { value: 1, labels: { pid: String(process.pid) } }];
      process.send({ kind: 'response', id, families: [{ name: 'c', type: 'counter', help: '', samples }] });
    });
    process.send({ kind: 'listening', url: 'http://localhost' });
  }
`;

let folder: string;
let workers: Workers;

const order = (text: 'end' | 'start slowly' | ''): void => {
  writeFileSync(join(folder, 'order'), text);
};
const processes = (): number[] => Object.values(cluster.workers ?? {}).map((worker) => worker?.process.pid ?? 0);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-workers-'));
  const exec = join(folder, 'worker.cjs');
  writeFileSync(exec, SCRIPT);
  order('');
  cluster.setupPrimary({ exec, execArgv: [] });
  workers = new Workers(2, () => undefined);
  await workers.start();
});
afterEach(async () => {
  await workers.stop();
  rmSync(folder, { recursive: true });
});

describe('The metrics of several processes', () => {
  const readSamples = async (): Promise<readonly Sample[]> => (await workers.read('/metrics'))[0]?.samples ?? [];

  it('count a process once that exits during the read', async () => {
    expect((await readSamples())[0]).toEqual({ value: 10 });
    order('end');
    expect((await readSamples())[0]).toEqual({ value: 10 });
  });

  it('keep the counts of replaced processes, also if nothing read them before', async () => {
    await workers.replaceAll();
    expect((await readSamples())[0]).toEqual({ value: 20 });
  });

  it('are released after the next read', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const sample = new WeakRef((await readSamples()).at(-1) ?? {}); // of one process, so not a sum
    for (let reads = 0; reads < 2; reads++) await readSamples();
    await delay(1); // a WeakRef keeps its target for the rest of the turn
    collectGarbage();
    expect(sample.deref()).toBeUndefined();
  });
});

describe('The processes of a server', () => {
  it('are as many as configured if all are replaced while one of them starts', async () => {
    const [killed = 0] = processes();
    order('start slowly');
    process.kill(killed, 'SIGKILL');
    await eventually('another one starts', () => existsSync(join(folder, 'starting')));
    order('');
    await workers.replaceAll();
    await delay(500); // longer than the pause before a process is started again
    expect(processes()).toHaveLength(2);
  });

  it('are logged if they are killed while they shut down', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const old = processes();
    order('end');
    await workers.replaceAll();
    expect(logged.mock.calls.flat()).toEqual(
      old.map((pid) => `Process ${pid} ended before its last request (SIGKILL)`),
    );
    logged.mockRestore();
  });
});
