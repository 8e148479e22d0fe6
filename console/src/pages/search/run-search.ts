import { type Query, type SvcClient, SvcError } from 'svc-health-client';
import { type Page, readPage } from '../../parts/search-pages';
import { type AskedSearch } from './print-call';

export interface Found {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly isIncluded: boolean;
}

/** The execution of a search by PostgreSQL. */
export interface Explanation {
  readonly query: readonly unknown[];
  readonly plan: unknown;
  readonly parameters: readonly { readonly id: number; readonly name: string }[];
  readonly advice: readonly string[];
}

export interface ResultPage extends Omit<Page, 'resources'> {
  readonly found: readonly Found[];
  readonly milliseconds: number;
  readonly explanation?: Explanation;
  /** The reason for a missing explanation. */
  readonly planFault?: unknown;
}

/** The members of a Bundle that explain its search. */
interface Explaining {
  readonly query?: readonly unknown[];
  readonly plan?: unknown;
  readonly parameters?: Explanation['parameters'];
  readonly advice?: readonly string[];
}

/**
 * The first page of a search, with its plan if the caller may see one. A plan shows numbers of rows, so it is denied to
 * callers who may access only some resources.
 */
export async function runSearch(
  client: SvcClient,
  { type, parameters }: AskedSearch,
  isExplained: boolean,
  signal: AbortSignal,
): Promise<ResultPage> {
  const query: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of parameters) {
    const known = query[name];
    query[name] = known === undefined ? value : [known, value].flat();
  }
  const path = `/fhir/${encodeURIComponent(type)}`;
  if (!isExplained) return readResult(client, path, query, signal);
  try {
    return await readResult(client, path, { ...query, _explain: 'format-json' }, signal);
  } catch (error) {
    if (!(error instanceof SvcError) || error.status !== 403) throw error;
    return { ...(await readResult(client, path, query, signal)), planFault: error };
  }
}

/** @param path the `next` link of the page before */
export const runNext = (client: SvcClient, path: string, signal: AbortSignal): Promise<ResultPage> =>
  readResult(client, path, {}, signal);

async function readResult(client: SvcClient, path: string, query: Query, signal: AbortSignal): Promise<ResultPage> {
  const startedAt = performance.now();
  const { bundle, resources, ...page } = await readPage<Explaining>(client, path, query, signal);
  const milliseconds = performance.now() - startedAt;
  const { entry = [] } = bundle;
  const included = new Set(entry.filter(({ search }) => search?.mode === 'include').map(({ resource }) => resource));
  return {
    ...page,
    found: resources.map((resource) => ({ resource, isIncluded: included.has(resource) })),
    milliseconds,
    ...(bundle.query === undefined
      ? {}
      : {
          explanation: {
            query: bundle.query,
            plan: bundle.plan,
            parameters: bundle.parameters ?? [],
            advice: bundle.advice ?? [],
          },
        }),
  };
}
