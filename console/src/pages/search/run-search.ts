import { type Query, type SvcClient, SvcError } from 'svc-health-client';
import { pathOf } from '../../parts/search-pages';
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

export interface ResultPage {
  readonly found: readonly Found[];
  /** Warnings of the server about the matches. */
  readonly remarks: readonly string[];
  readonly total?: number;
  readonly next?: string;
  readonly milliseconds: number;
  readonly explanation?: Explanation;
  /** The reason for a missing explanation. */
  readonly planFault?: unknown;
}

interface Bundle {
  readonly total?: number;
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly {
    readonly resource?: Readonly<Record<string, unknown>>;
    readonly search?: { readonly mode?: string };
  }[];
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
  if (!isExplained) return readPage(client, path, query, signal);
  try {
    return await readPage(client, path, { ...query, _explain: 'format-json' }, signal);
  } catch (error) {
    if (!(error instanceof SvcError) || error.status !== 403) throw error;
    return { ...(await readPage(client, path, query, signal)), planFault: error };
  }
}

/** @param path the `next` link of the page before */
export const runNext = (client: SvcClient, path: string, signal: AbortSignal): Promise<ResultPage> =>
  readPage(client, path, {}, signal);

async function readPage(client: SvcClient, path: string, query: Query, signal: AbortSignal): Promise<ResultPage> {
  const startedAt = performance.now();
  const bundle = (await (await client.request('GET', path, { query, signal })).json()) as Bundle;
  const milliseconds = performance.now() - startedAt;
  const entries = (bundle.entry ?? []).flatMap(({ resource, search }) =>
    resource === undefined ? [] : [{ resource, mode: search?.mode }],
  );
  const next = bundle.link?.find(({ relation }) => relation === 'next')?.url;
  return {
    found: entries
      .filter(({ mode }) => mode !== 'outcome')
      .map(({ resource, mode }) => ({ resource, isIncluded: mode === 'include' })),
    remarks: entries.filter(({ mode }) => mode === 'outcome').flatMap(({ resource }) => diagnosticsOf(resource)),
    ...(bundle.total === undefined ? {} : { total: bundle.total }),
    ...(next === undefined ? {} : { next: pathOf(next) }),
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

function diagnosticsOf(resource: Readonly<Record<string, unknown>>): readonly string[] {
  const issues = Array.isArray(resource['issue']) ? (resource['issue'] as { readonly diagnostics?: string }[]) : [];
  return issues.flatMap(({ diagnostics }) => diagnostics ?? []);
}
