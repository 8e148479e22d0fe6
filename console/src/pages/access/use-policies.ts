import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSession } from '../../app/session';
import { type PolicyBody } from './policy-reading';

/** The maximum number of policies that are read to decide which of them cover a caller. Servers have tens. */
export const MOST_POLICIES = 2_000;

interface AllPolicies {
  readonly policies: readonly PolicyBody[];
  readonly isMore: boolean;
}

/** Reads all policies up to the maximum, since no search finds the policies without links. */
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
