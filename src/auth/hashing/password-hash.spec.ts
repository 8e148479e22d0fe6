import { scryptSync } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../../platform/config/environment';
import { HashThreads } from './hash-threads';
import { PasswordHash } from './password-hash';

describe(PasswordHash, () => {
  let threads: HashThreads;
  const withSlots = (slots: number, queue: number): PasswordHash => {
    const settings = { SVC_PASSWORD_HASH_SLOTS: String(slots), SVC_PASSWORD_HASH_QUEUE: String(queue) };
    threads = new HashThreads(readEnvironment(settings));
    return new PasswordHash(threads);
  };
  afterEach(() => threads.onApplicationShutdown());

  it('is argon2id with parameters of the OWASP cheat sheet, and a salt of its own', async () => {
    const hashes = withSlots(1, 50);
    const [first, second] = [await hashes.hash('password'), await hashes.hash('password')];
    expect([first, second]).toEqual([
      expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/),
      expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/),
    ]);
    expect(first).not.toBe(second);
  });

  it('knows the right password, in one hash whatever comes', async () => {
    const hashes = withSlots(1, 50);
    const stored = await hashes.hash('pässword');
    expect([
      await hashes.isRight('pässword', stored),
      await hashes.isRight('password', stored),
      await hashes.isRight('', stored),
      await hashes.isRight('pässword', undefined),
      threads.startedTasks,
    ]).toEqual([true, false, false, false, 5]);
  });

  it('takes one text for one password, however a keyboard writes it', async () => {
    const hashes = withSlots(1, 50);
    const stored = await hashes.hash('p\u00e4ss w\u00f6rd \u00b2');
    expect([
      await hashes.isRight('pa\u0308ss\u00a0wo\u0308rd \u00b2', stored),
      await hashes.isRight('p\u00e4ss\u3000w\u00f6rd\u2003\u00b2', stored),
      await hashes.isRight('pass word \u00b2', stored),
      await hashes.isRight('p\u00e4ss w\u00f6rd 2', stored),
    ]).toEqual([true, true, false, false]);
  });

  it('checks hashes that came from elsewhere', async () => {
    const hashes = withSlots(1, 50);
    const salt = Buffer.alloc(16, 7);
    const key = scryptSync('right', salt, 32, { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 });
    const stored = `$s0$f0801$${salt.toString('base64')}$${key.toString('base64')}`;
    expect([await hashes.isRight('right', stored), await hashes.isRight('wrong', stored)]).toEqual([true, false]);
  });

  it('does as much for a password without a hash as for one with', async () => {
    const hashes = withSlots(1, 0);
    const stored = await hashes.hash('password');
    for (const against of [stored, undefined]) {
      const first = hashes.isRight('wrong', against);
      // The one slot is taken, so a hash is being computed.
      await expect(hashes.hash('other')).rejects.toMatchObject({ kind: 'busy' });
      expect(await first).toBe(false);
    }
  });

  it('refuses who would wait too long, and serves those who come later', async () => {
    const hashes = withSlots(1, 2);
    const asked = await Promise.allSettled(Array.from({ length: 5 }, () => hashes.isRight('password', undefined)));
    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected']);
    expect(asked[4]).toMatchObject({ reason: { kind: 'busy', details: { retryAfterSeconds: 1 } } });
    expect(await hashes.isRight('password', undefined)).toBe(false);
  });

  it('fails the task whose thread ends, and goes on with the next', async () => {
    withSlots(1, 2);
    // More memory than an allocation may ask for.
    const impossible = { kind: 'hash', password: 'x', parameters: { memoryCost: 1, timeCost: 1 } } as const;
    const [failed, next] = await Promise.allSettled([
      threads.run(impossible),
      new PasswordHash(threads).isRight('password', undefined),
    ]);
    expect([failed.status, next]).toEqual(['rejected', { status: 'fulfilled', value: false }]);
  });

  it('refuses those who wait when the server stops', async () => {
    const hashes = withSlots(1, 2);
    const asked = [hashes.hash('first'), hashes.hash('second')];
    const settled = Promise.allSettled(asked);
    await threads.onApplicationShutdown();
    expect((await settled)[1]).toMatchObject({ status: 'rejected', reason: { kind: 'busy' } });
  });
});
