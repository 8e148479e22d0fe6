import { type Schemas, type SvcClient } from 'svc-health-client';
import { readPage } from '../../parts/search-pages';

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
  const { bundle, next } = await readPage<Schemas['Bundle']>(client, path, query, signal);
  const versions = (bundle.entry ?? []).map(({ request, response }) => ({
    version: /"(.*)"/.exec(response?.etag ?? '')?.[1] ?? '',
    at: response?.lastModified,
    method: request?.method ?? '',
    isDeletion: request?.method === 'DELETE',
  }));
  return { versions, ...(next === undefined ? {} : { next }) };
}
