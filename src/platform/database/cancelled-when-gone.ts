import { setTimeout as delay } from 'node:timers/promises';
import { type PoolClient } from 'pg';
import { type EndSignal } from '../admission/request-end';
import { requestCancel } from './cancel-request';

/** A cancel request between two statements of a pipelined round trip has no effect, so it is repeated. */
const REPEAT_MILLISECONDS = 200;

/**
 * Runs statements on a connection, and cancels them in PostgreSQL when the signal aborts. A cancel request names the
 * connection, not the statement. So this waits until each request was processed, and none can cancel a later statement.
 * @throws the reason of the signal if it has aborted
 */
export async function cancelledWhenGone<T>(signal: EndSignal, client: PoolClient, run: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let over: AbortController | undefined;
  let cancelling: Promise<void> | undefined;
  const stop = (): void => {
    over ??= new AbortController();
    cancelling ??= cancelUntil(over.signal, client);
  };
  signal.addEventListener('abort', stop);
  try {
    return await run();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', stop);
    over?.abort();
    if (cancelling !== undefined) await cancelling;
  }
}

/** Destroys the connection if a cancel request failed: a late request could cancel a later statement. */
async function cancelUntil(over: AbortSignal, client: PoolClient): Promise<void> {
  try {
    while (!over.aborted) {
      await requestCancel(client);
      await delay(REPEAT_MILLISECONDS, undefined, { signal: over }).catch(() => undefined);
    }
  } catch {
    client.connection.stream.destroy();
  }
}
