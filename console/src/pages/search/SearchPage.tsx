import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { type PageProps } from '../../app/pages';
import { goTo, hashOf } from '../../app/routes';
import { useSession } from '../../app/session';
import { Empty } from '../../parts/Empty';
import { Fault } from '../../parts/Fault';
import { PageHeader } from '../../parts/PageHeader';
import { useKept } from '../../parts/use-kept';
import { Waiting } from '../../parts/Waiting';
import { type AskedSearch } from './print-call';
import { runNext, runSearch } from './run-search';
import { SearchForm } from './SearchForm';
import { SearchResult } from './SearchResult';
import { askedSearch, EMPTY_SEARCH, pastedSearch, type SearchDraft, withRowsOf } from './typed-search';
import css from './search.module.css';

/** A search that finds something in the data of the demo. */
const EXAMPLE = 'Observation?status=final&_sort=-date';

interface Submitted {
  readonly search: AskedSearch;
  readonly isExplained: boolean;
  /** The number of runs, since the same search may run again. */
  readonly run: number;
}

/**
 * Builds a search, shows its matches, and how PostgreSQL found them. The address contains only the type, since values
 * may be patient data.
 */
export default function SearchPage({ route }: PageProps): ReactElement {
  const [draft, setDraft] = useKept<SearchDraft>('search-draft', EMPTY_SEARCH);
  const [isExplained, setIsExplained] = useKept('search-explained', true);
  const [submitted, setSubmitted] = useKept<Submitted | undefined>('search-submitted', undefined);
  const [fault, setFault] = useState<string>();
  const [named] = route.steps;
  const taken = useRef<string>(undefined);
  useEffect(() => {
    if (named === undefined || taken.current === named) return;
    taken.current = named;
    if (draft.type !== named) setDraft({ ...EMPTY_SEARCH, type: named });
  }, [named, draft.type, setDraft]);

  const run = (from: SearchDraft): void => {
    const whole = withRowsOf(from);
    setDraft(whole);
    const search = askedSearch(whole);
    if (!/^[A-Z][A-Za-z]*$/.test(search.type)) {
      setFault('Name a resource type, such as Patient.');
      return;
    }
    setFault(undefined);
    taken.current = search.type;
    goTo(hashOf('search', [search.type]), true);
    setSubmitted({ search, isExplained, run: (submitted?.run ?? 0) + 1 });
  };

  return (
    <div className={css.searchLab}>
      <PageHeader title="Search lab">Any search of the API, with the plan that PostgreSQL ran.</PageHeader>
      <SearchForm
        draft={draft}
        onChange={(next) => {
          setDraft(next);
          setFault(undefined);
        }}
        onRun={run}
        fault={fault}
        isExplained={isExplained}
        onExplained={setIsExplained}
      />
      {submitted === undefined ? (
        <Empty title="Nothing was searched yet">
          Name a type, add parameters, and press Enter. Or type or paste a whole search into the field of the type:{' '}
          <button type="button" className="button small" onClick={() => run(pastedSearch(EXAMPLE) ?? draft)}>
            {EXAMPLE}
          </button>
        </Empty>
      ) : (
        <Ran submitted={submitted} draft={draft} />
      )}
    </div>
  );
}

function Ran({ submitted, draft }: { readonly submitted: Submitted; readonly draft: SearchDraft }): ReactElement {
  const { client, userId } = useSession();
  const { search, isExplained, run } = submitted;
  const results = useInfiniteQuery({
    queryKey: ['search-lab', userId, search, isExplained, run],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      pageParam === undefined ? runSearch(client, search, isExplained, signal) : runNext(client, pageParam, signal),
    getNextPageParam: ({ next }) => next,
    staleTime: Infinity,
    // A search that timed out is not repeated.
    retry: false,
  });
  if (results.isPending) return <Waiting what="the search" />;
  if (results.isError && results.data === undefined)
    return <Fault error={results.error} what="the search" onRetry={() => void results.refetch()} />;
  return (
    <SearchResult
      search={search}
      draft={askedSearch(draft)}
      pages={results.data.pages}
      onEnd={() => {
        if (results.hasNextPage && !results.isFetchingNextPage && !results.isError) void results.fetchNextPage();
      }}
      {...(results.isError ? { fault: results.error } : {})}
    />
  );
}
