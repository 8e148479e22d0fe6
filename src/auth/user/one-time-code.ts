import { createHmac, timingSafeEqual } from 'node:crypto';

/** One-time codes (RFC 6238) with the defaults of authenticator apps: HMAC-SHA-1, 30 seconds, 6 digits. */
const STEP_SECONDS = 30;
const DIGITS = 6;

/**
 * Time steps whose codes are accepted, relative to now. Clocks of phones differ, so the previous and the next code are
 * accepted too (RFC 6238, section 5.2).
 */
const STEPS_AROUND = [0, -1, 1];

/**
 * Returns the time step that a code belongs to, near the given time.
 * @param key the key in base32 (RFC 4648), the form that authenticator apps accept
 * @returns undefined for a wrong code, or a key that is not base32
 */
export function stepOf(code: string, key: string, time: Date): number | undefined {
  const bytes = base32Bytes(key);
  if (bytes === undefined || !/^\d{6}$/.test(code)) return undefined;
  const now = Math.floor(time.getTime() / 1000 / STEP_SECONDS);
  return STEPS_AROUND.map((distance) => now + distance).find((step) =>
    timingSafeEqual(Buffer.from(codeAt(step, bytes)), Buffer.from(code)),
  );
}

/** Computes the code of a time step (RFC 4226, section 5.3). */
export function codeAt(step: number, key: Buffer): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 0xf;
  const number = (digest.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * Decodes base32. Spaces, hyphens and padding are ignored, since people type them. Returns undefined for a text that is
 * not base32, and for a key that is longer than those of apps.
 */
export function base32Bytes(text: string): Buffer | undefined {
  const digits = text.toUpperCase().replace(/[ =-]/g, '');
  if (!/^[A-Z2-7]{8,256}$/.test(digits)) return undefined;
  const bytes: number[] = [];
  let [bits, count] = [0, 0];
  for (const digit of digits) {
    bits = ((bits << 5) | ALPHABET.indexOf(digit)) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes.push((bits >> count) & 0xff);
  }
  return Buffer.from(bytes);
}
