import { type Query, type ResourceType, type SvcClient } from 'svc-health-client';

/** A resource, of which a page reads a few members. */
export type Row = Readonly<Record<string, unknown>>;

/** The search for words in the text of resources. In `_ilike` a comma means OR, so commas become spaces. */
export const textSearch = (words: string): Query => (words === '' ? {} : { _ilike: words.replaceAll(/[\\,]/g, ' ') });

/** A page of a search, with the link to the next page. */
export interface Page {
  readonly resources: readonly Row[];
  readonly total?: number;
  readonly next?: string;
  /** Warnings of the server about the answer, such as omitted resources. */
  readonly remarks: readonly string[];
}

export async function firstPage(
  client: SvcClient,
  type: ResourceType,
  query: Query,
  signal?: AbortSignal,
): Promise<Page> {
  return pageOf(await client.request('GET', `/fhir/${type}`, { query, ...(signal === undefined ? {} : { signal }) }));
}

/** @param path the `next` link of the page before */
export async function nextPage(client: SvcClient, path: string, signal?: AbortSignal): Promise<Page> {
  return pageOf(await client.request('GET', path, signal === undefined ? {} : { signal }));
}

async function pageOf(response: Response): Promise<Page> {
  const { link = [], entry = [], total } = (await response.json()) as Answer;
  const next = link.find(({ relation }) => relation === 'next')?.url;
  const all = entry.flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
  return {
    resources: all.filter(({ resourceType }) => resourceType !== 'OperationOutcome'),
    ...(total === undefined ? {} : { total }),
    ...(next === undefined ? {} : { next: pathOf(next) }),
    remarks: all.flatMap(({ resourceType, issue = [] }) =>
      resourceType === 'OperationOutcome' ? issue.flatMap(({ diagnostics }) => diagnostics ?? []) : [],
    ),
  };
}

interface Answer {
  readonly total?: number;
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly {
    readonly resource?: Row & { readonly issue?: readonly { readonly diagnostics?: string }[] };
  }[];
}

export async function readRow(client: SvcClient, type: ResourceType, id: string): Promise<Row> {
  return (await (await client.request('GET', `/fhir/${type}/${encodeURIComponent(id)}`)).json()) as Row;
}

/**
 * The path of a link. Links contain the server's own address, but the console may use another address of the server.
 */
export function pathOf(link: string): string {
  const { pathname, search } = new URL(link);
  const fhir = pathname.lastIndexOf('/fhir/');
  return (fhir < 0 ? pathname : pathname.slice(fhir)) + search;
}
