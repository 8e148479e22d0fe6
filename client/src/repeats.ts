import { SvcError } from './errors.js';

/** Milliseconds before each repeat. Their sum is longer than a server behind a proxy needs to restart. */
const PAUSES = [250, 1000, 3000];

/**
 * A random text for `Idempotency-Key`. It does not use `randomUUID`, which is missing on pages loaded by plain HTTP.
 */
export const newKey = (): string =>
  `"${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}"`;

/** Calls again if the answer was lost, or if the server refused the call for a short time only. */
export async function repeated<Answer>(call: () => Promise<Answer>, signal: AbortSignal | undefined): Promise<Answer> {
  for (const pause of PAUSES) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || signal?.aborted === true) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    signal?.throwIfAborted();
  }
  return call();
}

/**
 * Whether a call may succeed if it is repeated. Status 409 means that the first call with this key is still running. An
 * error that is no answer of the server means that the connection broke.
 */
const isPassing = (error: unknown): boolean =>
  error instanceof SvcError ? [409, 502, 503, 504].includes(error.status) : !isEnd(error);

const isEnd = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
