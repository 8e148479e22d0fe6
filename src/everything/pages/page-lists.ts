import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Background, type BackgroundTask } from '../../platform/background/background';
import { Environment } from '../../platform/config/environment';
import { type Snapshot } from '../../platform/database/snapshots';
import { Statements } from '../../platform/database/statements';
import { sweep } from '../../platform/database/sweep';
import { ServiceError } from '../../platform/errors/service-error';
import { type Caller } from '../../platform/request/caller';
import { RequestContext } from '../../platform/request/request-context';
import { type CompartmentQuery } from '../plan/compartment-query';
import { type QueryPart } from '../plan/query-parts';
import { CompartmentReader, type ReadOptions } from '../read/compartment-reader';
import { type PageCursor } from '../request/everything-request';
import { type EntryHead } from '../plan/entry-rows';
import {
  ADD_LIST,
  entriesAdded,
  FIND_LIST,
  FORGET_ENTRIES,
  FORGET_MOST,
  FORGET_OLDEST,
  IS_FULL,
  READ_ENTRIES,
  SWEEP,
} from './page-statements';

/** Maximum number of resources in one list of pages. */
const MOST_OF_A_LIST = 500_000;

export interface ListedEntry extends EntryHead {
  readonly position: number;
  readonly version: number;
  readonly bytes: number;
}

export interface PageOfEntries {
  readonly entries: readonly ListedEntry[];
  /** Number of matches on all pages. Included resources come after the matches and are not counted. */
  readonly total: number;
  /** Position of the next page; absent on the last page. */
  readonly next?: PageCursor;
}

/**
 * Stores, for each paged answer, the list of the resource versions on all its pages, read at one moment. The lists are
 * in the database, so that any replica can serve a page. A late sweep is harmless: an expired list is refused anyway.
 */
@Injectable()
@Background({ task: 'sweep of page lists', interval: () => 60_000 })
export class PageLists implements BackgroundTask {
  constructor(
    private readonly reader: CompartmentReader,
    private readonly statements: Statements,
    private readonly requests: RequestContext,
    private readonly environment: Environment,
  ) {}

  /**
   * Creates the list of a compartment and returns its first page. If the first page holds everything, nothing is
   * stored.
   */
  async begin(query: CompartmentQuery, count: number, options: ReadOptions): Promise<PageOfEntries> {
    await this.statements.run(FORGET_OLDEST, [this.caller]);
    if (await this.isFull()) {
      await this.statements.run(FORGET_MOST, []);
      if (await this.isFull()) throw tooMany();
    }
    const listId = randomUUID();
    return this.reader.within(query, { ...options, isWriting: true }, async (snapshot, parts) => {
      let [total, size] = [0, 0];
      for (const part of parts(query)) {
        size += await addEntries(snapshot, part, listId, size);
        if (part.mode === 'match') total = size;
        if (size > MOST_OF_A_LIST) throw tooLong();
      }
      const entries = await snapshot.run<ListedEntry>(READ_ENTRIES, [listId, 0, count]);
      const lifetime = this.environment.everythingListSeconds;
      if (size > count) await snapshot.run(ADD_LIST, [listId, lifetime, total, size, this.caller, query.patientId]);
      else await snapshot.run(FORGET_ENTRIES, [listId]);
      return { entries, total, ...(size > count ? { next: { listId, position: count } } : {}) };
    });
  }

  /**
   * Reads a later page.
   * @throws ServiceError 'gone' for a deleted or expired list, 'forbidden' for the list of another caller, 'invalid'
   * for the list of another patient
   */
  async page({ listId, position }: PageCursor, patientId: string, count: number): Promise<PageOfEntries> {
    const list = await this.statements.runOne<{ total: number; size: number; caller: string; patient_id: string }>(
      FIND_LIST,
      [listId],
    );
    if (list === undefined) throw expired();
    if (list.caller !== this.caller)
      throw new ServiceError(
        'pages-of-another-caller',
        'These pages were made for another caller. Ask for the first page.',
      );
    if (list.patient_id !== patientId)
      throw new ServiceError('page-link-invalid', '_cursor belongs to the pages of another patient.');
    const entries = await this.statements.run<ListedEntry>(READ_ENTRIES, [listId, position, count]);
    // Another request may have deleted the list between the two statements.
    if (entries.length < Math.min(count, list.size - position)) throw expired();
    const next = position + count;
    return { entries, total: list.total, ...(next < list.size ? { next: { listId, position: next } } : {}) };
  }

  step(): Promise<number | undefined> {
    return sweep(this.statements, SWEEP);
  }

  private async isFull(): Promise<boolean> {
    return (await this.statements.runOne<{ is_full: boolean }>(IS_FULL, []))?.is_full === true;
  }

  private get caller(): string {
    const { userId = '', clientId }: Partial<Caller> = this.requests.caller ?? {};
    return `${userId} ${clientId ?? ''}`;
  }
}

/** @returns the number of entries that the query part has added to the list */
async function addEntries(snapshot: Snapshot, part: QueryPart, listId: string, offset: number): Promise<number> {
  const { statement, values } = entriesAdded(part, listId, offset);
  return (await snapshot.run<{ added: number }>(statement, values))[0]?.added ?? 0;
}

const expired = (): ServiceError =>
  new ServiceError(
    'pages-expired',
    'These pages have expired: they are kept for a limited time, and newer pages replace the oldest. Ask for the first page again; it shows the current state.',
  );

const tooMany = (): ServiceError =>
  new ServiceError(
    'pages-full',
    'Too many pages are kept now. Try again later, or stream the whole with Accept: application/fhir+ndjson.',
    { retryAfterSeconds: 60 },
  );

const tooLong = (): ServiceError =>
  new ServiceError(
    'compartment-too-large',
    `Compartments of more than ${MOST_OF_A_LIST} resources are not kept as pages. Stream the whole with Accept: application/fhir+ndjson, or ask for less with _type, start and end.`,
  );
