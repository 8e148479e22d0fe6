import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Query, type ResourceType } from 'svc-health-client';
import { useSession } from '../app/session';
import { firstPage, nextPage, type Page } from './search-pages';

interface List {
  readonly rows: Page['resources'];
  readonly total: number | undefined;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly isWhole: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

/** The matches of a search; `loadMore` reads the next page. */
export function useList(type: ResourceType, query: Query): List {
  const { client, userId } = useSession();
  const search = useInfiniteQuery({
    queryKey: ['list', userId, type, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      pageParam === undefined ? firstPage(client, type, query, signal) : nextPage(client, pageParam, signal),
    getNextPageParam: ({ next }) => next,
  });
  const pages = search.data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ resources }) => resources) ?? [], [pages]);
  return {
    rows,
    total: pages?.[0]?.total,
    isPending: search.isPending,
    error: search.error,
    isWhole: !search.hasNextPage,
    loadMore: () => {
      if (search.hasNextPage && !search.isFetchingNextPage) void search.fetchNextPage();
    },
    retry: () => void search.refetch(),
  };
}
