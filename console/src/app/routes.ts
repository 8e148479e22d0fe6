import { useSyncExternalStore } from 'react';

/** The part of the address after `#`: a page, its segments, and parameters. It never contains a token. */
export interface Route {
  readonly page: string;
  readonly steps: readonly string[];
  readonly query: URLSearchParams;
}

/** Reads `#/destinations/hook?tab=events`. A segment with an invalid encoding is used as it is. */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [page = '', ...steps] = path.split('/').map(decoded);
  return { page, steps: steps.filter((step) => step !== ''), query: new URLSearchParams(query) };
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** The hash of a page: `hashOf('destinations', ['hook'], { tab: 'events' })`. */
export function hashOf(
  page: string,
  steps: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, value);
  const path = [page, ...steps].map(encodeURIComponent).join('/');
  return `#/${path}${parameters.size === 0 ? '' : `?${parameters.toString()}`}`;
}

/**
 * Opens a page.
 * @param isReplacing replaces the history entry, for steps that need no way back
 */
export function goTo(hash: string, isReplacing = false): void {
  if (isReplacing) {
    history.replaceState(null, '', hash);
    window.dispatchEvent(new HashChangeEvent('hashchange'));
  } else window.location.hash = hash;
}

let known: { readonly hash: string; readonly route: Route } | undefined;

function present(): Route {
  const { hash } = window.location;
  if (known?.hash !== hash) known = { hash, route: routeOf(hash) };
  return known.route;
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  return () => {
    window.removeEventListener('hashchange', listener);
  };
}

export const useRoute = (): Route => useSyncExternalStore(subscribe, present);
