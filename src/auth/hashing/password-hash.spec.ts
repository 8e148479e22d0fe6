import { scryptSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HashThreads } from './hash-threads';
import { PasswordHash } from './password-hash';

describe(PasswordHash, () => {
  let threads: HashThreads;
  let hashes: PasswordHash;
  let started: jest.SpiedFunction<HashThreads['run']>;
  beforeEach(() => {
    threads = new HashThreads();
    started = jest.spyOn(threads, 'run');
    hashes = new PasswordHash(threads);
  });
  afterEach(() => threads.onApplicationShutdown());

  it('is argon2id with the parameters of the OWASP cheat sheet and a new salt each time', async () => {
    const [first, second] = [await hashes.hash('password'), await hashes.hash('password')];
    expect([first, second]).toEqual([
      expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/),
      expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/),
    ]);
    expect(first).not.toBe(second);
  });

  it('accepts only the right password, and computes exactly one hash per check', async () => {
    const stored = await hashes.hash('pässword');
    expect([
      await hashes.isRight('pässword', stored),
      await hashes.isRight('password', stored),
      await hashes.isRight('', stored),
      await hashes.isRight('pässword', undefined),
      started.mock.calls.length,
    ]).toEqual([true, false, false, false, 5]);
  });

  it('treats Unicode spellings of one text as the same password', async () => {
    const stored = await hashes.hash('p\u00e4ss w\u00f6rd \u00b2');
    expect([
      await hashes.isRight('pa\u0308ss\u00a0wo\u0308rd \u00b2', stored),
      await hashes.isRight('p\u00e4ss\u3000w\u00f6rd\u2003\u00b2', stored),
      await hashes.isRight('pass word \u00b2', stored),
      await hashes.isRight('p\u00e4ss w\u00f6rd 2', stored),
    ]).toEqual([true, true, false, false]);
  });

  it('accepts the right password for an imported scrypt hash', async () => {
    const salt = Buffer.alloc(16, 7);
    const key = scryptSync('right', salt, 32, { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 });
    const stored = `$s0$f0801$${salt.toString('base64')}$${key.toString('base64')}`;
    expect([await hashes.isRight('right', stored), await hashes.isRight('wrong', stored)]).toEqual([true, false]);
  });

  it('computes one hash even if no hash is stored', async () => {
    const stored = await hashes.hash('password');
    await Promise.all([hashes.isRight('wrong', stored), hashes.isRight('wrong', undefined)]);
    expect(started).toHaveBeenCalledTimes(3);
  });

  it('rejects the task of a thread that exits, and runs the next task', async () => {
    // The argon2 library does not accept so little memory, so the thread ends.
    const impossible = { kind: 'hash', password: 'x', parameters: { memoryCost: 1, timeCost: 1 } } as const;
    const [failed, next] = await Promise.allSettled([threads.run(impossible), hashes.isRight('password', undefined)]);
    expect([failed.status, next]).toEqual(['rejected', { status: 'fulfilled', value: false }]);
  });

  it('refuses new tasks as busy after the server stops', async () => {
    await threads.onApplicationShutdown();
    await expect(hashes.hash('password')).rejects.toMatchObject({ kind: 'busy' });
  });
});
