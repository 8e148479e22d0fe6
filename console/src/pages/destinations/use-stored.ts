import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type Schemas } from 'svc-health-client';
import { useClient } from '../../app/session';

type Destination = Schemas['SvcTopicDestination'];

/** The stored resource, or null if the User may not see it. It is read by a search, which masks every secret. */
export function useStored(id: string): UseQueryResult<Destination | null> {
  const client = useClient();
  return useQuery({
    queryKey: ['destination', id, 'stored'],
    queryFn: async () => (await client.search('SvcTopicDestination', { _id: id }).next()).value ?? null,
  });
}
