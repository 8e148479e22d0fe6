import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { TimeLimit } from '../../platform/database/time-limit';
import { SearchIndex } from '../../search-index/search-index';
import {
  APPEND_ENTRY,
  FIND_UNLINKED,
  HOLD_RECORD,
  HOLD_TARGET,
  LATEST_SNAPSHOTS,
  READ_ENTRIES,
  READ_LINKS,
} from './addendum-statements';
import { type ChainHead, headIn, hasLink, type LinkRow, type StoredLink } from './chain-check';
import { type Link } from './link-hash';

export interface SnapshotEntry {
  readonly addendumId: string;
  readonly digest: Buffer;
}

export interface StoredEntry {
  /** The position: 1, 2, 3 … in the order of the calls, independent of the clock. */
  readonly sequence: number;
  readonly addendumId: string;
  readonly isSnapshot: boolean;
  /** The stored text; null when the addendum is missing from the database. */
  readonly text: string | null;
  /** Whether this was the last addendum of its target when it was read. */
  readonly isLast: boolean;
}

/** PostgreSQL reads and hashes the text of each link, so 200 keep a statement short even for large snapshots. */
const LINKS_AT_ONCE = 200;
/** How many bytes of text one page may have in memory. A single text may be longer. */
const BYTES_AT_ONCE = 512 * 1024;
const MAX_SEQUENCE = 2_147_483_647;
const READING_SECONDS = 30;

@Injectable()
export class AddendumEntries {
  constructor(
    private readonly statements: Statements,
    private readonly index: SearchIndex,
  ) {}

  /** Locks `target` against other writing calls until the transaction ends, and returns the number of its addenda. */
  hold(target: NativeReference): Promise<number> {
    return this.locked(HOLD_TARGET, target);
  }

  /** Like {@link hold}, but if the target has no addenda, it locks nothing and returns 0. */
  holdRecord(target: NativeReference): Promise<number> {
    return this.locked(HOLD_RECORD, target);
  }

  private async locked(statement: Statement, { resourceType, id }: NativeReference): Promise<number> {
    return (await this.statements.runOne<{ last_sequence: number }>(statement, [resourceType, id]))?.last_sequence ?? 0;
  }

  /** Appends an addendum to the locked target, and adds its link to the chain of the target. */
  async append({ resourceType, id }: NativeReference, addendum: Omit<Link, 'sequence'>): Promise<void> {
    const { addendumId, snapshotDigest, textHash } = addendum;
    await this.statements.run(APPEND_ENTRY, [resourceType, id, addendumId, snapshotDigest, textHash]);
  }

  /** Returns the latest two History addenda with a snapshot, the later one first. There may be fewer. */
  latestSnapshots({ resourceType, id }: NativeReference): Promise<SnapshotEntry[]> {
    return this.statements.run<SnapshotEntry>(LATEST_SNAPSHOTS, [resourceType, id]);
  }

  /** Yields the addenda of a target up to a sequence number, in order, page by page. Take a page by {@link emptied}. */
  async *pagesOf(
    { resourceType, id }: NativeReference,
    last = MAX_SEQUENCE,
  ): AsyncGenerator<StoredEntry[], void, void> {
    let [sequence, isOver] = [0, false];
    while (!isOver) {
      const values = [resourceType, id, sequence, last, BYTES_AT_ONCE, 'SDCAddendum'];
      const page = await this.inSlot(() => this.statements.run<StoredEntry>(READ_ENTRIES, values));
      const end = page.at(-1);
      [sequence, isOver] = [end?.sequence ?? sequence, end?.isLast !== false];
      yield page;
    }
  }

  /** Returns the next links of a chain (none at its end), and the head of the chain, read by the same statement. */
  async linksAfter(
    { resourceType, id }: NativeReference,
    sequence: number,
  ): Promise<{ readonly links: readonly StoredLink[]; readonly head: ChainHead | undefined }> {
    const values = [resourceType, id, sequence, LINKS_AT_ONCE, 'SDCAddendum'];
    const rows = await this.inSlot(() => this.statements.run<LinkRow>(READ_LINKS, values));
    return { links: rows.filter(hasLink), head: rows[0] && headIn(rows[0]) };
  }

  /** Returns the id of an addendum that names the target but has no link in its chain, if there is one. */
  async findUnlinked({ resourceType, id }: NativeReference): Promise<string | undefined> {
    const values = [this.index.referenceHash(resourceType, id), resourceType, id];
    return (await this.inSlot(() => this.statements.runOne<{ id: string }>(FIND_UNLINKED, values)))?.id;
  }

  /** Waits for a slot, like a search. Otherwise reads and checks of long records would use all connections. */
  private inSlot<T>(read: () => Promise<T>): Promise<T> {
    return this.statements.within(new TimeLimit(READING_SECONDS, 'The addenda took too long to read.', true), read);
  }
}

/** Yields the items and removes them: the list would keep all texts in memory while a slow client reads the first. */
export function* emptied<T>(list: T[]): Generator<T, void, void> {
  for (let next = list.shift(); next !== undefined; next = list.shift()) yield next;
}
