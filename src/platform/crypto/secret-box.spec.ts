import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../config/environment';
import { SecretBox } from './secret-box';

const boxOf = (key: Buffer, ...accepted: readonly Buffer[]): SecretBox =>
  new SecretBox(
    readEnvironment({
      SVC_ENCRYPTION_KEY: key.toString('base64'),
      SVC_ENCRYPTION_KEYS_ACCEPTED: accepted.map((one) => one.toString('base64')).join(','),
    }),
  );

describe(SecretBox.name, () => {
  const key = randomBytes(32);
  const plain = Buffer.from('Bearer ä secret');

  it('opens a value that another box with the same key sealed', () => {
    expect(boxOf(key).open(boxOf(key).seal(plain))).toEqual(plain);
  });

  it('seals an empty value', () => {
    expect(boxOf(key).open(boxOf(key).seal(Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  it('never seals a value to the same bytes twice', () => {
    const box = boxOf(key);
    expect(box.seal(plain)).not.toEqual(box.seal(plain));
  });

  it('refuses a value sealed with another key', () => {
    const sealed = boxOf(randomBytes(32)).seal(plain);
    expect(() => boxOf(key).open(sealed)).toThrow('SVC_ENCRYPTION_KEYS_ACCEPTED');
  });

  it('opens values sealed with an accepted key, and seals with the current key', () => {
    const [older, oldest] = [randomBytes(32), randomBytes(32)];
    const box = boxOf(key, older, oldest);
    for (const sealed of [boxOf(older).seal(plain), boxOf(oldest).seal(plain)]) {
      expect(box.open(sealed)).toEqual(plain);
      expect(box.isCurrent(sealed)).toBe(false);
    }
    expect(boxOf(key).open(box.seal(plain))).toEqual(plain);
    expect(box.isCurrent(box.seal(plain))).toBe(true);
  });

  it('refuses a value if any one of its bits has changed', () => {
    const box = boxOf(key);
    const sealed = box.seal(plain);
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => box.open(changed)).toThrow();
    }
  });

  it('refuses a truncated value', () => {
    const box = boxOf(key);
    const short = box.seal(plain).subarray(0, 27);
    expect(() => box.open(short)).toThrow('A sealed value was changed');
    expect(box.tryOpen(short)).toBeUndefined();
    expect([box.isCurrent(short), box.tryOpen(Buffer.alloc(0))]).toEqual([false, undefined]);
  });

  it('refuses to start without a key', () => {
    expect(() => new SecretBox(readEnvironment({}))).toThrow('SVC_ENCRYPTION_KEY');
  });
});
