import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { SvcError } from 'svc-health-client';
import { useClient } from '../../app/session';
import { type Sample, withSample } from './samples';

const POLL_MILLISECONDS = 5000;
const KEY = ['server-status'];

/**
 * Answers of `$server-status`, a new one every 5 s while the page is visible. They are kept while other pages are open.
 */
export function useSamples(isPaused: boolean): UseQueryResult<readonly Sample[]> {
  const client = useClient();
  const queries = useQueryClient();
  return useQuery({
    queryKey: KEY,
    queryFn: async () => withSample(queries.getQueryData<readonly Sample[]>(KEY) ?? [], await client.server.status()),
    refetchInterval: ({ state: { error } }) => (isPaused || isRefusal(error) ? false : POLL_MILLISECONDS),
    refetchOnWindowFocus: !isPaused,
    structuralSharing: false,
    gcTime: Infinity,
  });
}

const isRefusal = (error: unknown): boolean => error instanceof SvcError && error.status < 429;
