import { type Snapshot } from '../../platform/database/snapshots';
import { type Statement } from '../../platform/database/statement';
import { type QueryPart } from '../plan/query-parts';
import { type EntryPrinter } from '../print/entry-printer';
import { type PartsOf } from './compartment-reader';
import { type FoundEntry, PartCursor } from './part-cursor';

/** How many bytes of bodies a chunk has in memory. A single body may be longer. */
const BYTES_AT_ONCE = 64 * 1024;

/** Reads the bodies of resources by their keys ($1), in this order. */
const BODIES: Statement = {
  name: 'everything-bodies',
  text: `select c.body from unnest($1::bigint[]) with ordinality k(resource_key, place)
    cross join lateral (select * from resource r where r.resource_key = k.resource_key limit 1) c order by k.place`,
};

/** Several printed entries. */
interface Chunk {
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
function* chunked<Row extends { readonly bytes: number }>(rows: readonly Row[]): Generator<readonly Row[]> {
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
  const bodies = await snapshot.run<{ body: string }>(BODIES, [found.map(({ resource_key: key }) => key)]);
  const entries = found.map(({ type, id, parameters }, at) => ({ type, id, parameters, text: bodies[at]?.body ?? '' }));
  return printer.print(entries, mode);
}
