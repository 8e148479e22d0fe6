import { useSyncExternalStore } from 'react';
import { type Fetch } from 'svc-health-client';

let unreachableSince: number | undefined;
const listeners = new Set<() => void>();

/** Calls `listener` when the server becomes unreachable, and when it is reachable again. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function note(isReached: boolean): void {
  if (isReached === (unreachableSince === undefined)) return;
  unreachableSince = isReached ? undefined : Date.now();
  for (const listener of listeners) listener();
}

/** The time since when no request was answered; undefined while requests are answered. */
export const useUnreachableSince = (): number | undefined => useSyncExternalStore(subscribe, () => unreachableSince);

/**
 * `fetch` that records whether the server answers. A request that its caller aborted shows nothing about the server.
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
