import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { compactJson } from '../../src/platform/json/compact-json';
import { elementsOf, membersOf } from '../../src/platform/json/json-members';
import { type LoadEntry, type LoadUnit } from './load-unit';

/** The number of resources in a request, if the file does not determine it. */
const UNIT_SIZE = 250;
/** The maximum depth of JSON. Bundles are deeper than resources; the server checks the resources. */
const MAX_DEPTH = 128;

export interface LoadFile {
  readonly path: string;
  readonly hash: string;
}

/**
 * Reads the requests of a file: a transaction or batch unchanged; a collection, a list of single resources or NDJSON as
 * batches.
 * @throws Error that names the file, and the line of NDJSON, for any other content.
 */
export async function* readUnits(file: LoadFile): AsyncGenerator<LoadUnit> {
  if (/\.ndjson$/i.test(file.path)) {
    yield* batchesOf(file, linesOf(file.path));
    return;
  }
  const text = compactJson(await readFile(file.path, 'utf8'), MAX_DEPTH);
  const members = new Map(membersOf(text).map(({ key, valueText }) => [key, valueText]));
  if (members.get('resourceType') !== '"Bundle"') {
    yield* batchesOf(file, [storing(text, 'resource')]);
    return;
  }
  const type = members.get('type');
  const entries = elementsOf(members.get('entry') ?? '[]');
  if (type === '"transaction"' || type === '"batch"') {
    const all = entries.map((entry, index) => ({ ...describedEntry(entry), place: `entry ${index}` }));
    yield unitOf(file, { number: 0, type: type === '"batch"' ? 'batch' : 'transaction', entries: all });
    return;
  }
  yield* batchesOf(
    file,
    entries.flatMap((entry, index) => {
      const resource = membersOf(entry).find(({ key }) => key === 'resource')?.valueText;
      return resource === undefined ? [] : [storing(resource, `entry ${index}`)];
    }),
  );
}

async function* linesOf(path: string): AsyncGenerator<LoadEntry> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity })) {
    number += 1;
    if (line.trim() === '') continue;
    try {
      yield storing(compactJson(line, MAX_DEPTH), `line ${number}`);
    } catch (error) {
      throw new Error(`line ${number}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

async function* batchesOf(
  file: LoadFile,
  entries: Iterable<LoadEntry> | AsyncIterable<LoadEntry>,
): AsyncGenerator<LoadUnit> {
  let gathered: LoadEntry[] = [];
  let number = 0;
  for await (const entry of entries) {
    gathered.push(entry);
    if (gathered.length < UNIT_SIZE) continue;
    yield unitOf(file, { number: number++, type: 'batch', entries: gathered });
    gathered = [];
  }
  if (gathered.length > 0) yield unitOf(file, { number, type: 'batch', entries: gathered });
}

const unitOf = ({ path, hash }: LoadFile, unit: Pick<LoadUnit, 'number' | 'type' | 'entries'>): LoadUnit => ({
  file: path,
  fileHash: hash,
  ...unit,
});

/** An entry that stores the resource under its id, or under a new one if it has none. */
function storing(resource: string, place: string): LoadEntry {
  const { resourceType, id } = JSON.parse(resource) as { resourceType?: unknown; id?: unknown };
  if (typeof resourceType !== 'string') throw new Error('no resource: it has no resourceType');
  const request =
    typeof id === 'string' ? { method: 'PUT', url: `${resourceType}/${id}` } : { method: 'POST', url: resourceType };
  const text = `{"resource":${resource},"request":${JSON.stringify(request)}}`;
  return { place, resourceType, text, isRepeatable: typeof id === 'string' };
}

function describedEntry(text: string): Omit<LoadEntry, 'place'> {
  const { resource, request } = JSON.parse(text) as {
    resource?: { resourceType?: string };
    request?: { method?: string; url?: string; ifNoneExist?: string };
  };
  const { method = '', url = '', ifNoneExist } = request ?? {};
  return {
    text,
    resourceType: resource?.resourceType ?? /^[A-Za-z]*/.exec(url)?.[0] ?? '',
    isRepeatable: ['GET', 'PUT', 'DELETE'].includes(method) || ifNoneExist !== undefined,
  };
}
