import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Query, type ResourceType } from 'svc-health-client';
import { useSession } from '../app/session';
import { firstPage, type Page, readPage, type Row } from './search-pages';

interface List {
  /** The rows of all pages that were read; undefined before the first page. */
  readonly data: Page['resources'] | undefined;
  readonly total: number | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
  readonly loadMore: () => void;
  /** Replaces a row after a write, or removes it. Reading all pages again would take long once many pages are shown. */
  readonly change: (id: string, row: Row | undefined) => void;
}

/**
 * The matches of a search; `loadMore` reads the next page.
 * @param otherwise another search, for when the first one finds nothing
 */
export function useList(type: ResourceType, query: Query, otherwise?: Query): List {
  const { client, userId } = useSession();
  const queries = useQueryClient();
  const queryKey = ['list', userId, type, query, otherwise];
  const search = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      if (pageParam !== undefined) return readPage(client, pageParam, {}, signal);
      const found = await firstPage(client, type, query, signal);
      const isFinal = otherwise === undefined || found.resources.length > 0;
      return isFinal ? found : firstPage(client, type, otherwise, signal);
    },
    getNextPageParam: ({ next }) => next,
  });
  const pages = search.data?.pages;
  const data = useMemo(() => pages?.flatMap(({ resources }) => resources), [pages]);
  return {
    data,
    total: pages?.[0]?.total,
    error: search.error,
    refetch: search.refetch,
    loadMore: () => {
      // After a failure only `refetch` reads again: a list at its end calls this function at each render.
      if (search.hasNextPage && !search.isFetchingNextPage && !search.isError) void search.fetchNextPage();
    },
    change: (id, row) =>
      queries.setQueryData<InfiniteData<Page>>(queryKey, (data) =>
        data === undefined ? data : { ...data, pages: data.pages.map((page) => changed(page, id, row)) },
      ),
  };
}

/** The page after a write. Every page has the total of the search, so each total is reduced by a removed row. */
function changed(page: Page, id: string, row: Row | undefined): Page {
  const resources = page.resources.flatMap((one) => (one['id'] !== id ? [one] : row === undefined ? [] : [row]));
  return { ...page, resources, ...(page.total === undefined || row !== undefined ? {} : { total: page.total - 1 }) };
}
