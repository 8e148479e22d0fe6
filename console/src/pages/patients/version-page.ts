import { type Schemas, type SvcClient } from 'svc-health-client';
import { pathOf } from '../../parts/search-pages';

export interface Version {
  readonly version: string;
  readonly at: string | undefined;
  readonly method: string;
  readonly isDeletion: boolean;
}

export interface VersionPage {
  readonly versions: readonly Version[];
  /** The path of the next page. */
  readonly next?: string;
}

/** The number of versions on a page. It is small, since the list contains their bodies. */
const VERSIONS_AT_ONCE = 20;

export async function versionPage(client: SvcClient, path: string, signal: AbortSignal): Promise<VersionPage> {
  const query = path.includes('?') ? {} : { _count: VERSIONS_AT_ONCE };
  const bundle = (await (await client.request('GET', path, { query, signal })).json()) as Schemas['Bundle'];
  const link = bundle.link?.find(({ relation }) => relation === 'next')?.url;
  const versions = (bundle.entry ?? []).map(({ request, response }) => ({
    version: /"(.*)"/.exec(response?.etag ?? '')?.[1] ?? '',
    at: response?.lastModified,
    method: request?.method ?? '',
    isDeletion: request?.method === 'DELETE',
  }));
  return { versions, ...(link === undefined ? {} : { next: pathOf(link) }) };
}
