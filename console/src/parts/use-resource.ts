import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type ResourceType } from 'svc-health-client';
import { useSession } from '../app/session';
import { type Row } from './search-pages';

/** A stored resource. Without an id nothing is read. */
export function useResource(type: ResourceType, id: string | undefined): UseQueryResult<Row> {
  const { client, userId } = useSession();
  return useQuery({
    queryKey: ['row', userId, type, id],
    enabled: id !== undefined,
    queryFn: async (): Promise<Row> => ({ ...(await client.read(type, id ?? '')) }),
  });
}
