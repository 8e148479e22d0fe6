import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type DestinationOverview } from 'svc-health-client';
import { useClient } from '../../app/session';
import { byUrgency } from './verdict';

const SHOWN_EACH_MILLISECONDS = 1000;
const OFTEN_MILLISECONDS = 5_000;
/**
 * The interval of reading all destinations if there are many. Reading them takes seconds, so only failing ones are read
 * often.
 */
const SELDOM_MILLISECONDS = 60_000;
const MANY = 500;
const MOST_FAILING = 1_000;

export interface AllDestinations {
  readonly rows: readonly DestinationOverview[];
  /** Whether further pages are still being read. */
  readonly isReading: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

/** Reads all destinations, the most urgent first. The rows grow as pages arrive. */
export function useDestinations(): AllDestinations {
  const client = useClient();
  const [part, setPart] = useState<readonly DestinationOverview[]>([]);
  const all = useQuery({
    queryKey: ['destinations', 'all'],
    // Comparing thousands of destinations by value would block the page.
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const found: DestinationOverview[] = [];
      let shownAt = performance.now();
      for await (const one of client.destinations.overview({ _count: 100 })) {
        signal.throwIfAborted();
        found.push(one);
        if (performance.now() - shownAt < SHOWN_EACH_MILLISECONDS) continue;
        shownAt = performance.now();
        setPart([...found]);
      }
      return found;
    },
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > MANY ? SELDOM_MILLISECONDS : OFTEN_MILLISECONDS),
  });
  const failing = useQuery({
    queryKey: ['destinations', 'failing'],
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const found: DestinationOverview[] = [];
      for await (const one of client.destinations.overview({ _count: 100, state: 'failing' })) {
        signal.throwIfAborted();
        found.push(one);
        if (found.length >= MOST_FAILING) break;
      }
      return { found, at: Date.now() };
    },
    refetchInterval: OFTEN_MILLISECONDS,
  });
  const rows = useMemo(() => {
    const known = new Map((all.data ?? part).map((one) => [one.id, one]));
    if ((failing.data?.at ?? 0) > all.dataUpdatedAt)
      for (const one of failing.data?.found ?? []) known.set(one.id, one);
    return [...known.values()].sort(byUrgency);
  }, [all.data, all.dataUpdatedAt, part, failing.data]);
  return { rows, isReading: all.isPending, error: all.error, retry: () => void all.refetch() };
}
