import { type Received, type Sent, type TestApp } from '../../testing/test-app';

/** The members of a Bundle that specs read (https://hl7.org/fhir/R4/bundle.html): of a searchset, or of a history. */
export interface Bundle<Entry = SearchEntry> {
  readonly type: string;
  /** Absent if the search requested no total. */
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry: readonly Entry[];
}

export interface SearchEntry {
  readonly fullUrl: string;
  readonly resource: StoredResource;
  readonly search: { readonly mode: string };
}

export interface HistoryEntry {
  /** Absent for a deletion. */
  readonly resource?: StoredResource;
  readonly request: object;
}

interface StoredResource {
  readonly resourceType: string;
  readonly id: string;
  readonly meta: { readonly versionId: string; readonly lastUpdated: string };
}

/** Reads a Bundle. Without entries it has no `entry`, since FHIR has no empty arrays. */
export const bundleOf = <Entry = SearchEntry>(answer: Received): Bundle<Entry> => ({
  entry: [],
  ...answer.json<Omit<Bundle<Entry>, 'entry'>>(),
});

/** Ids of the matches of a search, in the order of the page. */
export const idsOf = (bundle: Pick<Bundle, 'entry'>): string[] => idsOfMode('match', bundle);

/** Ids of entries of a search with this `search.mode`. */
export const idsOfMode = (mode: string, { entry }: Pick<Bundle, 'entry'>): string[] =>
  entry.filter(({ search }) => search.mode === mode).map(({ resource }) => resource.id);

/** @throws Error when the search is not answered with 200. */
export async function searchOn(app: TestApp, path: string, sent: Sent = {}): Promise<Bundle> {
  const answer = await app.get(path, sent);
  if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}: ${answer.text}`);
  return bundleOf(answer);
}

/** Ids on the first page of a search, sorted. */
export const idsOn = async (app: TestApp, path: string): Promise<string[]> => idsOf(await searchOn(app, path)).sort();

/** Returns the link to the page after this one; the last page has none. */
export function nextOf({ link }: Pick<Bundle, 'link'>): string | undefined {
  return link.find(({ relation }) => relation === 'next')?.url;
}

/**
 * Reads the page at the URL and all pages after it; no pages without a URL.
 * @throws Error when a page is not answered with 200.
 */
export async function followPages<Entry = SearchEntry>(
  app: TestApp,
  url: string | undefined,
): Promise<Bundle<Entry>[]> {
  const pages: Bundle<Entry>[] = [];
  let next = url;
  while (next !== undefined) {
    const answer = await app.get(next);
    if (answer.status !== 200) throw new Error(`${next} was answered with ${answer.status}: ${answer.text}`);
    const page = bundleOf<Entry>(answer);
    pages.push(page);
    next = nextOf(page);
  }
  return pages;
}

export const transactionOn = (app: TestApp, entry: readonly object[], sent: Sent = {}): Promise<Received> =>
  app.post('/fhir', { resourceType: 'Bundle', type: 'transaction', entry }, sent);

/** Stores the initial resources of a spec in one transaction. */
export async function storeTogether(app: TestApp, entry: readonly object[]): Promise<void> {
  const { status, text } = await transactionOn(app, entry);
  if (status !== 200) throw new Error(`A transaction was answered with ${status}: ${text}`);
}
