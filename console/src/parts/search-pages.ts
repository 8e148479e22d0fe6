import { type Query, type ResourceType, type Schemas, type SvcClient } from 'svc-health-client';

/** A page of a search, with the link to the next one. */
export interface Page {
  readonly resources: readonly Readonly<Record<string, unknown>>[];
  readonly total?: number;
  readonly next?: string;
  /** Warnings of the server about the answer, such as resources that are left out. */
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

/** @param path a `next` of the page before */
export async function nextPage(client: SvcClient, path: string, signal?: AbortSignal): Promise<Page> {
  return pageOf(await client.request('GET', path, signal === undefined ? {} : { signal }));
}

async function pageOf(response: Response): Promise<Page> {
  const bundle = (await response.json()) as Schemas['Bundle'];
  const next = bundle.link?.find(({ relation }) => relation === 'next')?.url;
  const all = (bundle.entry ?? []).flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
  const outcomes = all.filter(
    ({ resourceType }) => resourceType === 'OperationOutcome',
  ) as Schemas['OperationOutcome'][];
  return {
    resources: all.filter(({ resourceType }) => resourceType !== 'OperationOutcome') as unknown as Page['resources'],
    ...(bundle.total === undefined ? {} : { total: bundle.total }),
    ...(next === undefined ? {} : { next: pathOf(next) }),
    remarks: outcomes.flatMap(({ issue }) => issue.flatMap(({ diagnostics }) => diagnostics ?? [])),
  };
}

/** Links of answers begin with the server's own address; the console may reach it by another one. */
export function pathOf(link: string): string {
  const { pathname, search } = new URL(link);
  const fhir = pathname.lastIndexOf('/fhir/');
  return (fhir < 0 ? pathname : pathname.slice(fhir)) + search;
}
