import { type Snapshot } from '../../platform/database/snapshots';
import { type Statement } from '../../platform/database/statement';
import { ordered, type QueryPart } from '../plan/query-parts';
import { type EntryHead } from '../plan/entry';

const ROWS_AT_ONCE = 2_000;

/** An entry that was found, but whose body is not yet read. */
export interface FoundEntry extends EntryHead {
  readonly resource_key: number;
  /** Length of the body. */
  readonly bytes: number;
}

/** The entries of a query part, found and sorted. PostgreSQL keeps them in a cursor. */
export class PartCursor {
  private constructor(
    readonly mode: QueryPart['mode'],
    private readonly snapshot: Snapshot,
    private readonly name: string,
    private readonly first: readonly FoundEntry[],
  ) {}

  /** @returns undefined if the part has no entries */
  static async open(snapshot: Snapshot, part: QueryPart, name: string): Promise<PartCursor | undefined> {
    const { statement, values } = ordered(part, (text) => `declare ${name} no scroll cursor for ${text}`);
    await snapshot.run({ ...statement, name: '' }, values);
    // The rows are sorted, so PostgreSQL has found and stored all rows when it returns the first one.
    const first = await snapshot.run<FoundEntry>(fetchFrom(name, 1), []);
    return first.length === 0 ? undefined : new PartCursor(part.mode, snapshot, name, first);
  }

  async *rows(): AsyncGenerator<readonly FoundEntry[]> {
    let rows = this.first;
    for (let isOver = false; !isOver; rows = []) {
      const more = await this.snapshot.run<FoundEntry>(fetchFrom(this.name, ROWS_AT_ONCE), []);
      isOver = more.length < ROWS_AT_ONCE;
      yield [...rows, ...more];
    }
  }
}

/** A statement without a name, so it is not prepared: the columns differ between cursors. */
const fetchFrom = (cursor: string, count: number): Statement => ({ name: '', text: `fetch ${count} from ${cursor}` });
