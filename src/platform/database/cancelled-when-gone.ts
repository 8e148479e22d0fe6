import { setTimeout as delay } from 'node:timers/promises';
import { type PoolClient } from 'pg';
import { type EndSignal } from '../admission/request-end';
import { requestCancel } from './cancel-request';

/** A cancel that comes between two statements of a flight hits none: it is repeated. */
const REPEAT_MILLISECONDS = 200;

/**
 * Runs statements on a connection and cancels them in PostgreSQL when the signal aborts. A cancel names the connection and not
 * the statement, so this waits until each cancel has been carried out: none can hit what runs there next.
 * @throws the reason of the signal when it has aborted
 */
export async function cancelledWhenGone<T>(signal: EndSignal, client: PoolClient, run: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let cancelling: Cancelling | undefined;
  const stop = (): void => {
    cancelling ??= new Cancelling(client);
  };
  signal.addEventListener('abort', stop);
  try {
    return await run();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', stop);
    await cancelling?.end();
  }
}

class Cancelling {
  private readonly over = new AbortController();
  private readonly done: Promise<void>;

  constructor(client: PoolClient) {
    this.done = cancelUntil(this.over.signal, client);
  }

  /** Waits until no cancel is on its way. */
  end(): Promise<void> {
    this.over.abort();
    return this.done;
  }
}

/** A connection of which nobody can say whether a cancel is still on its way must not be used again. */
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
