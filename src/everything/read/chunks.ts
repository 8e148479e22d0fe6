import { type Snapshot } from '../../platform/database/snapshots';
import { type Statement } from '../../platform/database/statement';
import { type QueryPart } from '../plan/query-parts';
import { type EntryPrinter } from '../print/entry-printer';
import { type PartsOf } from './compartment-reader';
import { type FoundEntry, PartCursor } from './part-cursor';

/** How many bytes of bodies a chunk has in memory. A single body may be longer. */
const BYTES_AT_ONCE = 64 * 1024;

const OF_KEY = `cross join lateral (select * from resource r where r.resource_key = k.resource_key limit 1) c`;

/** Reads the bodies of resources by their keys ($1), in this order. */
const BODIES: Statement = {
  name: 'everything-bodies',
  text: `select c.body from unnest($1::bigint[]) with ordinality k(resource_key, place) ${OF_KEY} order by k.place`,
};

/**
 * Reads the bodies of resources joined to one text: $1 keys, $2 and $3 the texts before and after each body, $4
 * separator. One joined text is much less work for this process than one text per entry, especially for its garbage
 * collector.
 */
const JOINED: Statement = {
  name: 'everything-joined-bodies',
  text: `select string_agg(concat(k.before, c.body, k.after), $4::text order by k.place) as text
    from unnest($1::bigint[], $2::text[], $3::text[]) with ordinality k(resource_key, before, after, place) ${OF_KEY}`,
};

/** Several printed entries. */
export interface Chunk {
  readonly text: string;
  readonly count: number;
  readonly mode: QueryPart['mode'];
}

/**
 * Reads the entries of all parts in chunks, in the order of the answer. All entries are found before the first chunk is
 * read. After that, only a failure of the database or of the client can end the answer early.
 */
export async function* chunksOf(
  snapshot: Snapshot,
  parts: ReturnType<PartsOf>,
  printer: EntryPrinter,
): AsyncGenerator<Chunk> {
  const cursors: PartCursor[] = [];
  let number = 0;
  for (const part of parts) {
    const cursor = await PartCursor.open(snapshot, part, `compartment_${number++}`);
    if (cursor !== undefined) cursors.push(cursor);
  }
  await snapshot.liftLimit();
  for (const cursor of cursors)
    for await (const rows of cursor.rows())
      for (const found of chunked(rows))
        yield { text: await chunkText(snapshot, found, cursor.mode, printer), count: found.length, mode: cursor.mode };
}

/** Splits entries into chunks of at most BYTES_AT_ONCE bytes of bodies. A single longer body is a chunk of its own. */
export function* chunked<Row extends { readonly bytes: number }>(rows: readonly Row[]): Generator<readonly Row[]> {
  let chunk: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (chunk.length > 0 && bytes + row.bytes > BYTES_AT_ONCE) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(row);
    bytes += row.bytes;
  }
  if (chunk.length > 0) yield chunk;
}

async function chunkText(
  snapshot: Snapshot,
  found: readonly FoundEntry[],
  mode: QueryPart['mode'],
  printer: EntryPrinter,
): Promise<string> {
  const keys = found.map(({ resource_key: key }) => key);
  const frames = printer.frames(found, mode);
  if (frames !== undefined) {
    const [joined] = await snapshot.run<{ text: string }>(JOINED, [keys, ...frames, printer.between]);
    return joined?.text ?? '';
  }
  const bodies = await snapshot.run<{ body: string }>(BODIES, [keys]);
  const entries = found.map(({ type, id, parameters }, at) => ({ type, id, parameters, text: bodies[at]?.body ?? '' }));
  return printer.print(entries, mode);
}
