import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../platform/config/environment';
import { ServiceError } from '../platform/errors/service-error';
import { PasswordHash } from './password-hash';

const withSlots = (slots: number, queue: number): PasswordHash =>
  new PasswordHash(readEnvironment({ SVC_PASSWORD_HASH_SLOTS: String(slots), SVC_PASSWORD_HASH_QUEUE: String(queue) }));

describe(PasswordHash, () => {
  it('is argon2id with parameters of the OWASP cheat sheet, and a salt of its own', async () => {
    const hashes = withSlots(1, 50);
    const [first, second] = [await hashes.hash('password'), await hashes.hash('password')];
    expect([first, second]).toEqual([
      expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/),
      expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/),
    ]);
    expect(first).not.toBe(second);
  });

  it('knows the right password', async () => {
    const hashes = withSlots(1, 50);
    const stored = await hashes.hash('pässword');
    expect([
      await hashes.isRight('pässword', stored),
      await hashes.isRight('password', stored),
      await hashes.isRight('', stored),
      await hashes.isRight('pässword', undefined),
    ]).toEqual([true, false, false, false]);
  });

  it('does as much for a password without a hash as for one with', async () => {
    const hashes = withSlots(1, 0);
    const stored = await hashes.hash('password');
    for (const against of [stored, undefined]) {
      const first = hashes.isRight('wrong', against);
      // The one slot is taken, so a hash is being computed.
      await expect(hashes.hash('other')).rejects.toThrow(ServiceError);
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
});
