import { Injectable } from '@nestjs/common';
import { FHIR_ERRORS, outcomeOf } from '../../fhir/edge/operation-outcome';
import { isTransactionConflict } from '../../platform/database/database-error';
import { ServiceError } from '../../platform/errors/service-error';
import { serviceErrorOf } from '../../platform/http/service-error-of';
import { type Bundle, type BundleEntry, type BundleCall } from './bundle';
import { type Deadline } from './deadline';
import { type AnsweredEntry, MOST_CHARACTERS } from './entry-answer';
import { EntryRoutes, answeredEntry } from './entry-routes';
import { EntryFaults, entryError } from './entry-faults';
import { TransactionRunner } from './transaction-runner';

/** Maximum number of adjacent writes that are tried as one set. */
const SET_SIZE = 256;

/** Number of characters that the answer of an entry may always have. Every error fits into them. */
const ALWAYS_ROOM = 16 * 1024;

/** Number of characters that the answers of further entries may have. */
interface Room {
  left: number;
}

/** Runs each entry of a batch as if it were sent alone, in order. An entry that fails does not affect the others. */
@Injectable()
export class BatchRunner {
  constructor(
    private readonly routes: EntryRoutes,
    private readonly transactions: TransactionRunner,
  ) {}

  async run({ entries }: Bundle, call: BundleCall, deadline: Deadline): Promise<AnsweredEntry[]> {
    const answers: AnsweredEntry[] = [];
    const room = { left: MOST_CHARACTERS };
    for (let at = 0; at < entries.length;) {
      deadline.checkClient();
      const set = neighboursOf(entries, at);
      answers.push(...(await this.runSet(set, call, deadline, room)));
      at += set.length;
    }
    return answers;
  }

  /**
   * Runs adjacent plain writes as one set, which costs a fraction of single writes and has the same result. If one
   * write fails, nothing of the set is written, and each half of the set is tried.
   */
  private async runSet(
    set: readonly BundleEntry[],
    call: BundleCall,
    deadline: Deadline,
    room: Room,
  ): Promise<AnsweredEntry[]> {
    if (set.length === 1 || deadline.isOver) {
      const answers: AnsweredEntry[] = [];
      for (const entry of set) answers.push(await this.runAlone(entry, call, deadline, room));
      return answers;
    }
    try {
      // Entries of a batch cannot link to each other, so links are not rewritten.
      const entries = set.map((entry) => ({ ...entry, fullUrl: undefined }));
      return await this.transactions.run({ type: 'batch', entries, faults: new EntryFaults(true) }, call, deadline);
    } catch (error) {
      deadline.checkClient();
      if (serviceErrorOf(error) === undefined && !isTransactionConflict(error)) throw error;
      const middle = Math.ceil(set.length / 2);
      return [
        ...(await this.runSet(set.slice(0, middle), call, deadline, room)),
        ...(await this.runSet(set.slice(middle), call, deadline, room)),
      ];
    }
  }

  private async runAlone(entry: BundleEntry, call: BundleCall, deadline: Deadline, room: Room): Promise<AnsweredEntry> {
    try {
      await deadline.check();
      const { refusal, ...answer } = await this.routes.send(entry, call, Math.max(room.left, ALWAYS_ROOM));
      // A write is already committed, so it must be answered even if its resource does not fit into the answer. A read
      // need not.
      if (refusal !== undefined && entry.request.method === 'GET') throw refusal;
      room.left -= answer.text.length;
      return answeredEntry(entry, answer);
    } catch (error) {
      deadline.checkClient();
      return refusedEntry(error, entry);
    }
  }
}

/** Whether an entry is a POST or PUT whose result depends only on its resource. */
const isPlainWrite = (entry: BundleEntry | undefined): boolean =>
  entry !== undefined &&
  (entry.request.method === 'POST' || entry.request.method === 'PUT') &&
  !/[?$]|_search/.test(entry.request.url) &&
  entry.request.ifNoneExist === undefined;

/** The plain writes from an entry on, up to the size of a set; any other entry is alone. */
function neighboursOf(entries: readonly BundleEntry[], from: number): readonly BundleEntry[] {
  let end = from + 1;
  if (isPlainWrite(entries[from]))
    while (end < entries.length && end - from < SET_SIZE && isPlainWrite(entries[end])) end++;
  return entries.slice(from, end);
}

/**
 * The answer of an entry that was refused.
 * @throws an unexpected failure, which is no refusal: the exception filter answers and logs it
 */
function refusedEntry(error: unknown, entry: BundleEntry): AnsweredEntry {
  const refusal = entryError(error, entry.index);
  if (!(refusal instanceof ServiceError)) throw error;
  return {
    status: FHIR_ERRORS[refusal.kind].status,
    text: JSON.stringify(outcomeOf(refusal)),
    isRead: entry.request.method === 'GET',
  };
}
