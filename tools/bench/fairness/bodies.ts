import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const MIB = 2 ** 20;
const SPACES = Buffer.alloc(20 * MIB, ' ');

/** Bodies of 20 MiB by their Content-Encoding, compressed to a few bytes or to 20 kB. */
export const BOMBS: readonly (readonly [encoding: string, body: Buffer])[] = [
  [
    'br',
    brotliCompressSync(SPACES, {
      params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 2 },
    }),
  ],
  ['gzip', gzipSync(SPACES)],
];

/** The part of an upload that is sent, and the length that its head declares. */
export const UNFINISHED = { body: SPACES.subarray(0, MIB), declaredBytes: 20 * MIB };

/** A Binary of this size. Its content cannot be compressed, like the content of pictures. */
export function binaryOf(bytes: number): Buffer {
  const block = randomBytes(48 * 1024).toString('base64');
  const data = block.repeat(Math.floor(bytes / block.length));
  return Buffer.from(`{"resourceType":"Binary","contentType":"image/png","data":"${data}"}`);
}

/** A Patient of this size, filled with identifiers: a body may have a million values. */
export function patientOf(bytes: number): Buffer {
  const rest = 'x'.repeat(130);
  const identifier = Array.from({ length: Math.floor(bytes / 185) }, (_, n) => ({
    system: 'http://hostile.example',
    value: `${String(n).padStart(8, '0')}${rest}`,
  }));
  return Buffer.from(JSON.stringify({ resourceType: 'Patient', identifier }));
}

/** A batch of searches that no index supports. */
export function searchesOf(count: number): string {
  const entry = Array.from({ length: count }, (_, n) => ({
    request: { method: 'GET', url: `Observation?code:text=none-${n}` },
  }));
  return JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry });
}

/** A topic with criteria that are slow to evaluate, whichever version of a resource they test. */
export function dearTopic(): string {
  const fhirPathCriteria = 'code.coding.where(display.upper().length() > 1000).exists()';
  const trigger = Array.from({ length: 20 }, () => ({ resource: 'Observation', fhirPathCriteria }));
  return JSON.stringify({
    resourceType: 'SvcSubscriptionTopic',
    url: 'http://bench.example/topics/costly',
    status: 'draft',
    trigger,
  });
}
