import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Request, type Response } from 'express';
import { type Environment } from '../../platform/config/environment';
import { LoginQueue } from './login-queue';
import { TokenGate } from './token-gate';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Logins of one queue, each known by a name, that end when they are told to. */
class Logins {
  readonly began: string[] = [];
  /** By name: "done", or why it was refused. */
  readonly outcomes: Record<string, string> = {};
  readonly gone = new Set<string>();
  readonly waited: string[] = [];
  now = new Date('2026-01-01T08:00:00Z');
  private readonly ends: (() => void)[] = [];
  private readonly gate = new TokenGate();
  private readonly queue: LoginQueue;

  constructor(passwordHashSlots: number, passwordHashQueue: number) {
    const environment = { passwordHashSlots, passwordHashQueue } as Environment;
    this.queue = new LoginQueue(environment, { now: () => this.now }, this.gate);
  }

  arrive(address: string, ...names: string[]): void {
    for (const name of names) {
      this.queue
        .run({ address, isGone: () => this.gone.has(name), onWait: () => this.waited.push(name) }, async () => {
          this.began.push(name);
          await new Promise<void>((resolve) => this.ends.push(resolve));
        })
        .then(
          () => (this.outcomes[name] = 'done'),
          (error: unknown) => (this.outcomes[name] = (error as Error).message),
        );
    }
  }

  /** Another request is served. */
  readSomething(): void {
    this.gate.handler({ url: '/fhir/Patient/p1' } as Request, {} as Response, () => undefined);
  }

  /** One after the other, the first that began first. */
  async end(count: number): Promise<void> {
    await settled();
    for (let ended = 0; ended < count; ended++) {
      this.ends.shift()?.();
      await settled();
    }
  }
}

const BUSY = 'Too many logins at once. Try again.';

describe(LoginQueue, () => {
  let logins: Logins;
  beforeEach(() => {
    logins = new Logins(1, 4);
  });

  it('lets in two for each thread but one, then those who waited, the longest first', async () => {
    logins.arrive('a', '1', '2', '3', '4');
    await settled();
    expect(logins.began).toEqual(['1']);
    expect(logins.waited).toEqual(['2', '3', '4']);
    await logins.end(1);
    expect(logins.began).toEqual(['1', '2']);
    await logins.end(3);
    expect(logins.outcomes).toEqual({ '1': 'done', '2': 'done', '3': 'done', '4': 'done' });
  });

  it('lets addresses take turns, however many wait at one of them', async () => {
    logins.arrive('flood', 'f1', 'f2', 'f3', 'f4');
    logins.arrive('ward', 'w1');
    await logins.end(3);
    expect(logins.began).toEqual(['f1', 'f2', 'w1', 'f3']);
  });

  it('refuses at once when the queue is full, and the one whose line it is', async () => {
    logins.arrive('a', '1', '2', '3', '4', '5', '6');
    await settled();
    expect(logins.outcomes).toEqual({ '6': BUSY });
  });

  it('makes a place for another address: the last of the longest line leaves', async () => {
    logins.arrive('flood', 'f1', 'f2', 'f3', 'f4', 'f5');
    logins.arrive('ward', 'w1', 'w2', 'w3');
    await settled();
    expect(logins.outcomes).toEqual({ f5: BUSY, f4: BUSY, w3: BUSY });
    await logins.end(5);
    expect(logins.began).toEqual(['f1', 'f2', 'w1', 'f3', 'w2']);
  });

  it('does not begin what nobody waits for any more', async () => {
    logins.arrive('a', '1', 'hung up', '3');
    logins.gone.add('hung up');
    await logins.end(1);
    expect(logins.began).toEqual(['1', '3']);
  });

  it('refuses who has waited for more than thirty seconds', async () => {
    logins.arrive('a', '1', 'early');
    logins.now = new Date('2026-01-01T08:00:29Z');
    logins.arrive('a', 'late');
    logins.now = new Date('2026-01-01T08:00:30.001Z');
    await logins.end(1);
    expect(logins.outcomes).toEqual({ '1': 'done', early: BUSY });
    expect(logins.began).toEqual(['1', 'late']);
  });

  it('gives the place back after a failure', async () => {
    const environment = { passwordHashSlots: 1, passwordHashQueue: 0 } as Environment;
    const queue = new LoginQueue(environment, { now: () => logins.now }, new TokenGate());
    const arrival = { address: 'a', isGone: () => false, onWait: () => undefined };
    for (let n = 0; n < 5; n++) {
      const login = queue.run(arrival, () => Promise.reject(new Error('wrong')));
      await expect(login).rejects.toThrow('wrong');
    }
    await expect(queue.run(arrival, () => Promise.resolve('right'))).resolves.toBe('right');
  });

  describe('beside other requests', () => {
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    it('rests for 25 ms after a login', async () => {
      logins.arrive('a', '1', '2', '3');
      await settled();
      logins.readSomething();
      await logins.end(1);
      jest.advanceTimersByTime(24);
      await settled();
      expect(logins.began).toEqual(['1']);
      jest.advanceTimersByTime(1);
      await settled();
      expect(logins.began).toEqual(['1', '2']);
      jest.advanceTimersByTime(75);
      await logins.end(1); // nobody else came for a while
      expect(logins.began).toEqual(['1', '2', '3']);
    });

    it('lets in at once who comes after the rest', async () => {
      logins.arrive('a', '1');
      await settled();
      logins.readSomething();
      await logins.end(1);
      jest.advanceTimersByTime(25);
      logins.arrive('a', '2');
      await settled();
      expect(logins.began).toEqual(['1', '2']);
    });
  });
});
