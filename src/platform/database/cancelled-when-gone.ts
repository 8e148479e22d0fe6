import { setTimeout as delay } from 'node:timers/promises';
import { type PoolClient } from 'pg';
import { type EndSignal } from '../admission/request-end';
import { requestCancel } from './cancel-request';

/**
 * Interval of repeated cancel requests. A cancel request has no effect if it arrives between two statements of a
 * pipelined round trip, so it is repeated.
 */
const REPEAT_MILLISECONDS = 200;

/**
 * Runs statements on a connection, and cancels them in PostgreSQL when the signal aborts. A cancel request names the
 * connection, not the statement. So the function waits until each cancel request was processed; then none can cancel a
 * later statement.
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

/**
 * Sends cancel requests until the statements have ended. If a cancel request fails, the connection is destroyed: the
 * request may still arrive late and cancel a later statement.
 */
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
