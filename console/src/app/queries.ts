import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { SvcError } from 'svc-health-client';

const RETRIES = 3;

/**
 * Whether a failed request is repeated. Refusals are final. A request is repeated if the server is busy (429, 503) or
 * does not answer.
 */
export function mayRetry(failures: number, error: unknown): boolean {
  if (failures >= RETRIES) return false;
  if (!(error instanceof SvcError)) return error instanceof TypeError; // the error of fetch without a response
  return error.status === 429 || error.status >= 500;
}

/** Milliseconds until the repetition: as `Retry-After` says, else 1 s, 2 s, 4 s. */
export function retryDelay(failures: number, error: unknown): number {
  const seconds = error instanceof SvcError ? error.retryAfterSeconds : undefined;
  return (seconds ?? 2 ** failures) * 1000;
}

/**
 * @param onEnded called if a response says that the Session has ended
 */
export function makeQueryClient(onEnded: () => void): QueryClient {
  const onError = (error: unknown): void => {
    if (error instanceof SvcError && error.status === 401) onEnded();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        retry: mayRetry,
        retryDelay,
        staleTime: 5_000,
        // Ignores the online state of the device: the server may be on this machine or network.
        networkMode: 'always',
        refetchOnWindowFocus: false,
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}
