import { elementsOf, membersOf } from '../../../../src/platform/json/json-members';
import { type SvcClient } from 'svc-health-client';
import { type Capabilities } from '../../parts/capabilities';
import { treeOf } from '../../parts/body/body';
import { pause } from '../../parts/body/in-slices';
import { referencesOf } from '../../parts/body/references';
import { remarksOf } from '../../parts/search-pages';
import { readEntry } from './timeline-entry';

/** A resource that refers to the opened resource. */
export interface IncomingReference {
  readonly type: string;
  readonly id: string;
  readonly label: string;
  /** The elements with the reference; empty if a search parameter found it in another way. */
  readonly paths: readonly string[];
}

export interface Incoming {
  readonly found: readonly IncomingReference[];
  readonly total: number;
  /** Warnings of the server about omitted resources. */
  readonly remarks: readonly string[];
}

/** The maximum number of shown resources; all are counted. */
export const MAX_INCOMING = 200;
/** The maximum number of includes that the server allows in one search. */
const INCLUDES_AT_ONCE = 32;
/** The number of concurrent searches. It is small, since the server also serves others. */
const SEARCHES_AT_ONCE = 2;

/** Searches by each reverse include that `/metadata` names, as many per search as the server allows. */
export async function incomingOf(
  client: SvcClient,
  { rest }: Capabilities,
  type: string,
  id: string,
  signal: AbortSignal,
): Promise<Incoming> {
  const includes = rest?.[0]?.resource?.find((one) => one.type === type)?.searchRevInclude ?? [];
  const chunks: string[][] = [];
  for (let at = 0; at < includes.length; at += INCLUDES_AT_ONCE) chunks.push(includes.slice(at, at + INCLUDES_AT_ONCE));
  const texts = new Map<string, string>();
  const remarks = new Set<string>();
  const search = async (chunk: readonly string[]): Promise<void> => {
    const query = { _id: id, _revinclude: chunk, _total: 'none' };
    const text = await (await client.request('GET', `/fhir/${encodeURIComponent(type)}`, { query, signal })).text();
    for (const { resource, mode } of entriesOf(text)) {
      if (mode === 'include') texts.set(nameOf(resource), resource);
      else if (mode === 'outcome') for (const remark of remarksOf(JSON.parse(resource))) remarks.add(remark);
    }
  };
  for (let at = 0; at < chunks.length; at += SEARCHES_AT_ONCE)
    await Promise.all(chunks.slice(at, at + SEARCHES_AT_ONCE).map(search));
  const found: IncomingReference[] = [];
  for (const text of [...texts.values()].slice(0, MAX_INCOMING)) {
    const entry = readEntry(text);
    if (entry === undefined) continue;
    const paths = referencesOf(await treeOf(text, signal))
      .filter(({ target }) => target?.type === type && target.id === id)
      .map(({ path }) => path.replaceAll(/\.\d+/g, ''));
    found.push({ type: entry.type, id: entry.id, label: entry.label, paths: [...new Set(paths)] });
    await pause();
  }
  found.sort((one, other) => (`${one.type}/${one.id}` < `${other.type}/${other.id}` ? -1 : 1));
  return { found, total: texts.size, remarks: [...remarks] };
}

/** The resources of a Bundle as texts. */
function entriesOf(bundle: string): readonly { readonly resource: string; readonly mode: string }[] {
  const entries = elementsOf(memberOf(bundle, 'entry') ?? '');
  return entries.flatMap((entry) => {
    const resource = memberOf(entry, 'resource');
    const mode = (JSON.parse(memberOf(memberOf(entry, 'search') ?? '{}', 'mode') ?? '""') as string) || 'match';
    return resource === undefined ? [] : [{ resource, mode }];
  });
}

const memberOf = (text: string, key: string): string | undefined =>
  membersOf(text).find((member) => member.key === key)?.valueText;

const nameOf = (resource: string): string =>
  `${memberOf(resource, 'resourceType') ?? ''}/${memberOf(resource, 'id') ?? ''}`;
