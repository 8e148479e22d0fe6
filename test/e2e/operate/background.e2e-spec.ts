import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { Background, type BackgroundTask } from '../../../src/platform/background/background';
import { BackgroundTasks } from '../../../src/platform/background/background-tasks';
import { ServiceError } from '../../../src/platform/errors/service-error';
import { eventually } from '../../../testing/eventually';
import { type TestApp, startTestApp } from '../../../testing/test-app';

const OFTEN = 10;
/** The number of the tasks' lock in PostgreSQL. No other lock has this number. */
const LOCK = 1;

/** Counters that the tasks of all servers of a test share. */
let running = 0;
let mostAtOnce = 0;
let steps = 0;
let work: () => Promise<number | undefined>;

class Probe implements BackgroundTask {
  async step(): Promise<number | undefined> {
    steps++;
    running++;
    mostAtOnce = Math.max(mostAtOnce, running);
    try {
      return await work();
    } finally {
      running--;
    }
  }
}

@Injectable()
@Background({ task: 'often', interval: () => OFTEN })
class OftenProbe extends Probe {}

@Injectable()
@Background({ task: 'once', interval: () => OFTEN, lock: LOCK })
class OnceProbe extends Probe {}

@Injectable()
@Background({ task: 'woken', interval: () => 0 })
class WokenProbe extends Probe {}

@Module({ providers: [OftenProbe] })
class Often {}
@Module({ providers: [OnceProbe] })
class Once {}
@Module({ providers: [WokenProbe] })
class Woken {}

const wake = ({ app }: TestApp, task: string): Promise<void> => app.get(BackgroundTasks).wake(task);
const failuresOf = ({ app }: TestApp, task: string): number | undefined =>
  app
    .get(BackgroundTasks)
    .read()[0]
    ?.samples.find(({ labels }) => labels?.task === task)?.value;

describe('H7: a background task', () => {
  const apps: TestApp[] = [];
  const start = async (module: typeof Often, databaseUrl?: string): Promise<TestApp> => {
    const app = await startTestApp({ modules: [module], ...(databaseUrl === undefined ? {} : { databaseUrl }) });
    apps.push(app);
    return app;
  };

  beforeEach(() => {
    [running, mostAtOnce, steps] = [0, 0, 0];
    work = () => Promise.resolve(undefined);
  });
  afterEach(async () => {
    for (const app of apps.splice(0).reverse()) await app.close();
  });

  it('runs from the start at its interval, one run at a time', async () => {
    work = () => delay(3 * OFTEN, undefined);
    await start(Often);
    await eventually('it ran some times', () => steps >= 5);
    expect(mostAtOnce).toBe(1);
  });

  it('takes the next step immediately while more remains, and never runs without a wake if it has no interval', async () => {
    const app = await start(Woken);
    work = () => Promise.resolve(0);
    await wake(app, 'woken');
    await delay(5 * OFTEN);
    expect(steps).toBe(1);
    let left = 20;
    work = () => Promise.resolve(--left > 0 ? 0 : undefined);
    await wake(await start(Often, app.databaseUrl), 'often');
    expect(left).toBeLessThanOrEqual(0);
  });

  it('runs once more if it is woken during a run, which may have missed new work', async () => {
    const app = await start(Woken);
    let finish = (): void => undefined;
    work = () =>
      new Promise((resolve) => {
        finish = () => {
          resolve(undefined);
        };
      });
    const first = wake(app, 'woken');
    const others = [wake(app, 'woken'), wake(app, 'woken')];
    finish();
    await eventually('it runs again', () => steps === 2);
    finish();
    await Promise.all([first, ...others]);
    expect([steps, mostAtOnce]).toEqual([2, 1]);
  });

  it('with a lock runs on one replica at a time, and on another one after that replica stops', async () => {
    const app = await start(Once);
    const other = await start(Once, app.databaseUrl);
    work = () => delay(2 * OFTEN, undefined);
    await eventually('both tried', () => steps > 10);
    expect(mostAtOnce).toBe(1);
    await other.close();
    apps.pop();
    const before = steps;
    await eventually('it goes on', () => steps > before + 2);
  });

  it('that fails is repeated, and counted', async () => {
    work = () => Promise.reject(new Error('broken'));
    const app = await start(Often);
    await eventually('it failed', () => (failuresOf(app, 'often') ?? 0) >= 3);
    work = () => Promise.resolve(undefined);
    const before = steps;
    await eventually('it goes on', () => steps > before + 2);
  });

  it.each([
    ['with its stack if its code has an error', () => new Error('x is undefined'), 'Error: x is undefined\n    at '],
    ['by its code if it was refused', () => new ServiceError('not-found', 'Patient/p7 not found'), ': not-found'],
    [
      'by its code if the database connection broke',
      () => new Error('Connection terminated'),
      ': database-unavailable',
    ],
  ])('that fails is logged %s', async (_how, fault, expected) => {
    const app = await start(Often);
    let logged = '';
    const note = (...parts: unknown[]): void => {
      logged += `${parts.map(String).join(' ')}\n`;
    };
    app.app.useLogger({ log: () => undefined, warn: note, error: note });
    work = () => Promise.reject(fault());
    await eventually('it failed', () => (failuresOf(app, 'often') ?? 0) >= 1);
    expect(logged).toContain('"often" failed and is tried again');
    expect(logged).toContain(expected);
    expect(logged).not.toContain('p7');
  });

  it('finishes its step when the server stops, and begins no other', async () => {
    let isDone = false;
    work = async () => {
      await delay(10 * OFTEN);
      isDone = true;
      return 0;
    };
    await start(Often);
    await eventually('it runs', () => running === 1);
    await apps.pop()?.close();
    const after = steps;
    expect([isDone, running]).toEqual([true, 0]);
    await delay(5 * OFTEN);
    expect(steps).toBe(after);
  });
});
