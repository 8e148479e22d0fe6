import { useSyncExternalStore } from 'react';
import { type Fetch } from 'svc-health-client';

let unreachableSince: number | undefined;
const listeners = new Set<() => void>();

/** Calls `listener` when the server cannot be reached any more, and when it can again. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function note(isReached: boolean): void {
  if (isReached === (unreachableSince === undefined)) return;
  unreachableSince = isReached ? undefined : Date.now();
  for (const listener of listeners) listener();
}

/** Since when no request gets an answer; undefined while requests are answered. */
export const useUnreachableSince = (): number | undefined => useSyncExternalStore(subscribe, () => unreachableSince);

/**
 * `fetch` that remembers whether the server answers. A request that its caller gave up says nothing about the server.
 */
export const noticedFetch: Fetch = async (input, init) => {
  try {
    const response = await fetch(input, { ...init, credentials: 'omit', cache: 'no-store', redirect: 'error' });
    note(true);
    return response;
  } catch (error) {
    if (init.signal?.aborted !== true) note(false);
    throw error;
  }
};
