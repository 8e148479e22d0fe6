import { type Snapshot } from '../../platform/database/snapshots';
import { type Statement } from '../../platform/database/statement';
import { type EntryHead } from '../plan/entry-rows';
import { batchesOf } from '../../store/late-texts';
import { ordered, type QueryPart } from '../plan/query-parts';
import { type EntryPrinter } from '../print/entry-printer';
import { type PartsOf } from './compartment-reader';

const ROWS_AT_ONCE = 2_000;

/** Reads the bodies of resources by their keys ($1), in this order. */
const BODIES: Statement = {
  name: 'everything-bodies',
  text: `select c.body from unnest($1::bigint[]) with ordinality k(resource_key, place)
    cross join lateral (select * from resource r where r.resource_key = k.resource_key limit 1) c order by k.place`,
};

/** An entry that was found, but whose body is not yet read. */
interface FoundEntry extends EntryHead {
  readonly resource_key: number;
  /** Length of the body. */
  readonly bytes: number;
}

/** The entries of a query part, found and sorted. PostgreSQL keeps them in a cursor. */
interface OpenPart extends Pick<QueryPart, 'mode'> {
  readonly cursor: string;
  readonly first: readonly FoundEntry[];
}

interface Chunk extends Pick<QueryPart, 'mode'> {
  readonly text: string;
  readonly count: number;
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
  const opened: OpenPart[] = [];
  for (const part of parts) opened.push(await openPart(snapshot, part, `compartment_${opened.length}`));
  await snapshot.liftLimit();
  for (const part of opened)
    for await (const rows of rowsOf(snapshot, part))
      for (const found of batchesOf(rows))
        yield { text: await chunkText(snapshot, found, part.mode, printer), count: found.length, mode: part.mode };
}

/** Finds the entries of a part. The rows are sorted, so PostgreSQL has found all of them when it returns the first. */
async function openPart(snapshot: Snapshot, part: QueryPart, cursor: string): Promise<OpenPart> {
  const { statement, values } = ordered(part, (text) => `declare ${cursor} no scroll cursor for ${text}`);
  await snapshot.run({ ...statement, name: '' }, values);
  return { mode: part.mode, cursor, first: await snapshot.run<FoundEntry>(fetchFrom(cursor, 1), []) };
}

async function* rowsOf(snapshot: Snapshot, { cursor, first }: OpenPart): AsyncGenerator<readonly FoundEntry[]> {
  let rows = first;
  for (let isOver = rows.length === 0; !isOver; rows = []) {
    const more = await snapshot.run<FoundEntry>(fetchFrom(cursor, ROWS_AT_ONCE), []);
    isOver = more.length < ROWS_AT_ONCE;
    yield [...rows, ...more];
  }
}

/** A statement without a name, so it is not prepared: the columns differ between cursors. */
const fetchFrom = (cursor: string, count: number): Statement => ({ name: '', text: `fetch ${count} from ${cursor}` });

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
