import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type Topic } from 'svc-health-client';
import { useClient } from '../../app/session';

/** The maximum number of topics in the list. */
const MOST_LISTED = 500;

export function useTopics(): UseQueryResult<readonly Topic[]> {
  const client = useClient();
  return useQuery({
    queryKey: ['topics'],
    queryFn: async () => {
      const found: Topic[] = [];
      for await (const topic of client.search('SvcSubscriptionTopic', { _count: 100 })) {
        found.push(topic);
        if (found.length === MOST_LISTED) break;
      }
      return found;
    },
  });
}
