import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSession } from '../../app/session';
import { readRow } from '../../parts/search-pages';
import { type PolicyBody } from './policy-reading';

/** Policies that are read to say which of them cover somebody. Servers have tens of them. */
export const MOST_POLICIES = 2_000;

interface AllPolicies {
  readonly policies: readonly PolicyBody[];
  readonly isMore: boolean;
}

/** All policies, up to a limit: links cannot be searched for their absence. */
export function useAllPolicies(): UseQueryResult<AllPolicies> {
  const { client, userId } = useSession();
  return useQuery({
    queryKey: ['all-policies', userId],
    queryFn: async () => {
      const policies: PolicyBody[] = [];
      for await (const policy of client.search('AccessPolicy', { _count: 500, _total: 'none' })) {
        if (policies.length === MOST_POLICIES) return { policies, isMore: true };
        policies.push({ ...policy });
      }
      return { policies, isMore: false };
    },
  });
}

export function usePolicy(id: string): UseQueryResult<PolicyBody> {
  const { client, userId } = useSession();
  return useQuery({
    queryKey: ['policy', userId, id],
    retry: false,
    queryFn: async (): Promise<PolicyBody> => readRow(client, 'AccessPolicy', id),
  });
}
