import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { Statements } from '../../platform/database/statements';
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

/** An addendum at its position among those of its target. */
export interface StoredEntry {
  /** 1, 2, 3 … in the order of the calls, independent of the clock. */
  readonly sequence: number;
  readonly addendumId: string;
  readonly isSnapshot: boolean;
  /** The text stored now; null when it is gone. */
  readonly text: string | null;
  /** Whether it was the last one when it was read. */
  readonly isLast: boolean;
}

/** PostgreSQL reads and hashes each text, so 200 keep the statement short even for large snapshots. */
const LINKS_AT_ONCE = 200;
/** Bytes of text in memory per page; a single text may be longer. */
const BYTES_AT_ONCE = 512 * 1024;
const MAX_SEQUENCE = 2_147_483_647;

/** The order of the addenda of each target, and the hash chain that proves it. */
@Injectable()
export class AddendumEntries {
  constructor(
    private readonly statements: Statements,
    private readonly index: SearchIndex,
  ) {}

  /** Locks `target` against other writing calls until the open transaction ends. Returns the number of its addenda. */
  async hold({ resourceType, id }: NativeReference): Promise<number> {
    const row = await this.statements.runOne<{ last_sequence: number }>(HOLD_TARGET, [resourceType, id]);
    return row?.last_sequence ?? 0;
  }

  /** Like {@link hold}, only for a target that has addenda; otherwise it returns 0 and locks nothing. */
  async holdRecord({ resourceType, id }: NativeReference): Promise<number> {
    const row = await this.statements.runOne<{ last_sequence: number }>(HOLD_RECORD, [resourceType, id]);
    return row?.last_sequence ?? 0;
  }

  /** Appends an addendum to those of the locked target, and links it into their chain. */
  async append({ resourceType, id }: NativeReference, addendum: Omit<Link, 'sequence'>): Promise<void> {
    const { addendumId, snapshotDigest, textHash } = addendum;
    await this.statements.run(APPEND_ENTRY, [resourceType, id, addendumId, snapshotDigest, textHash]);
  }

  /** The latest History addenda with a snapshot: at most two, the later one first. */
  latestSnapshots({ resourceType, id }: NativeReference): Promise<SnapshotEntry[]> {
    return this.statements.run<SnapshotEntry>(LATEST_SNAPSHOTS, [resourceType, id]);
  }

  /** The addenda of a target after a sequence number, in order, read page by page. */
  async *of(
    target: NativeReference,
    { after = 0, last }: { readonly after?: number; readonly last?: number | undefined } = {},
  ): AsyncGenerator<StoredEntry, void, void> {
    let [sequence, isOver] = [after, false];
    while (!isOver) {
      const page = await this.entriesAfter(target, sequence, last);
      const end = page.at(-1);
      [sequence, isOver] = [end?.sequence ?? sequence, end?.isLast !== false];
      yield* emptied(page);
    }
  }

  /** The next addenda after a sequence number, up to {@link BYTES_AT_ONCE}; empty at the end. */
  entriesAfter(
    { resourceType, id }: NativeReference,
    sequence: number,
    lastSequence = MAX_SEQUENCE,
  ): Promise<StoredEntry[]> {
    const values = [resourceType, id, sequence, lastSequence, BYTES_AT_ONCE, 'SDCAddendum'];
    return this.statements.run<StoredEntry>(READ_ENTRIES, values);
  }

  /** The next links of a chain, empty at its end, and the head of the target from the same statement. */
  async linksAfter(
    { resourceType, id }: NativeReference,
    sequence: number,
  ): Promise<{ readonly links: readonly StoredLink[]; readonly head: ChainHead | undefined }> {
    const values = [resourceType, id, sequence, LINKS_AT_ONCE, 'SDCAddendum'];
    const rows = await this.statements.run<LinkRow>(READ_LINKS, values);
    return { links: rows.filter(hasLink), head: rows[0] && headIn(rows[0]) };
  }

  /** The id of an addendum that names the target but is not among its entries. */
  async findUnlinked({ resourceType, id }: NativeReference): Promise<string | undefined> {
    const hash = this.index.referenceHash(resourceType, id);
    return (await this.statements.runOne<{ id: string }>(FIND_UNLINKED, [hash]))?.id;
  }
}

/**
 * Yields the items and removes them; otherwise the list would keep all texts in memory while a slow client reads one.
 */
export function* emptied<T>(list: T[]): Generator<T, void, void> {
  for (let next = list.shift(); next !== undefined; next = list.shift()) yield next;
}
