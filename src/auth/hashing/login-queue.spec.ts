import { describe, expect, it } from '@jest/globals';
import { type Environment } from '../../platform/config/environment';
import { LoginQueue } from './login-queue';

const queueOf = (passwordHashSlots: number, passwordHashQueue: number): LoginQueue =>
  new LoginQueue({ passwordHashSlots, passwordHashQueue } as Environment);

/** Logins that end when they are told to, and the order in which they began. */
function logins(queue: LoginQueue, count: number): { began: number[]; ends: (() => void)[]; all: Promise<string>[] } {
  const began: number[] = [];
  const ends: (() => void)[] = [];
  const all = Array.from({ length: count }, (_value, index) =>
    queue
      .run(async () => {
        began.push(index);
        await new Promise<void>((resolve) => ends.push(resolve));
      })
      .then(
        () => 'done',
        (error: unknown) => (error as Error).message,
      ),
  );
  return { began, ends, all };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe(LoginQueue.name, () => {
  it('lets in two for each thread, then those who waited, the longest first', async () => {
    const { began, ends, all } = logins(queueOf(1, 10), 4);
    await turn();
    expect(began).toEqual([0, 1]);
    ends.shift()?.();
    await turn();
    expect(began).toEqual([0, 1, 2]);
    for (let n = 0; n < 3; n++) {
      ends.splice(0).forEach((end) => {
        end();
      });
      await turn();
    }
    expect(await Promise.all(all)).toEqual(['done', 'done', 'done', 'done']);
  });

  it('refuses at once when the queue is full', async () => {
    const { ends, all } = logins(queueOf(1, 1), 4);
    expect(await all[3]).toContain('Too many logins');
    ends.splice(0).forEach((end) => {
      end();
    });
    await turn();
    ends.splice(0).forEach((end) => {
      end();
    });
    expect(await Promise.all(all.slice(0, 3))).toEqual(['done', 'done', 'done']);
  });

  it('gives the place back after a failure', async () => {
    const queue = queueOf(1, 0);
    for (let n = 0; n < 5; n++)
      await expect(queue.run(() => Promise.reject(new Error('wrong')))).rejects.toThrow('wrong');
    await expect(queue.run(() => Promise.resolve('right'))).resolves.toBe('right');
  });
});
