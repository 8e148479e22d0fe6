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

/** A Bundle as the server answers it. */
interface Bundle {
  readonly total?: number;
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly { readonly resource?: Row; readonly search?: { readonly mode?: string } }[];
}

export const firstPage = (client: SvcClient, type: ResourceType, query: Query, signal: AbortSignal): Promise<Page> =>
  readPage(client, `/fhir/${type}`, query, signal);

/**
 * Reads a page of a search or history, and its Bundle.
 * @param path the path of the first page, or the `next` link of the page before
 */
export async function readPage<More = unknown>(
  client: SvcClient,
  path: string,
  query: Query,
  signal: AbortSignal,
): Promise<Page & { readonly bundle: More & Bundle }> {
  const bundle = (await (await client.request('GET', path, { query, signal })).json()) as More & Bundle;
  const { link = [], entry = [], total } = bundle;
  const next = link.find(({ relation }) => relation === 'next')?.url;
  const all = entry.flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
  const isOutcome = ({ resourceType }: Row): boolean => resourceType === 'OperationOutcome';
  return {
    bundle,
    resources: all.filter((resource) => !isOutcome(resource)),
    ...(total === undefined ? {} : { total }),
    ...(next === undefined ? {} : { next: pathOf(next) }),
    remarks: all.filter(isOutcome).flatMap(remarksOf),
  };
}

/** The texts of an OperationOutcome. */
export function remarksOf(outcome: unknown): readonly string[] {
  const { issue = [] } = outcome as {
    readonly issue?: readonly { readonly diagnostics?: string; readonly details?: { readonly text?: string } }[];
  };
  return issue.flatMap(({ diagnostics, details }) => diagnostics ?? details?.text ?? []);
}

/**
 * The path of a link. Links contain the server's own address, but the console may use another address of the server.
 */
export function pathOf(link: string): string {
  const { pathname, search } = new URL(link);
  const fhir = pathname.lastIndexOf('/fhir/');
  return (fhir < 0 ? pathname : pathname.slice(fhir)) + search;
}
