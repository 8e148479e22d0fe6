import { Injectable } from '@nestjs/common';
import { FHIR_ERRORS, outcomeOf } from '../../fhir/operation-outcome';
import { isTransactionConflict } from '../../platform/database/database-error';
import { ServiceError } from '../../platform/errors/service-error';
import { serviceErrorOf } from '../../platform/http/service-error-of';
import { type Bundle, type BundleEntry } from './bundle';
import { type BundleCall } from './bundle-call';
import { type Deadline } from './deadline';
import { type AnsweredEntry } from './entry-answer';
import { entryError } from './entry-error';
import { EntryRoutes, answeredEntry } from './entry-routes';
import { PlainWrites, isPlainWrite } from './plain-writes';

/** Neighbouring writes that are tried as one set. */
const SET_SIZE = 256;

/** Runs each entry of a batch as if it were sent alone, in their order: one that fails is no other's business. */
@Injectable()
export class BatchRunner {
  constructor(
    private readonly routes: EntryRoutes,
    private readonly plainWrites: PlainWrites,
  ) {}

  async run({ entries }: Bundle, call: BundleCall, deadline: Deadline): Promise<AnsweredEntry[]> {
    const answers: AnsweredEntry[] = [];
    for (let at = 0; at < entries.length;) {
      deadline.checkClient();
      const set = neighboursOf(entries, at);
      if (set.length > 1) answers.push(...(await this.runSet(set, call, deadline)));
      else answers.push(await this.runAlone(entries[at], call, deadline));
      at += Math.max(set.length, 1);
    }
    return answers;
  }

  /**
   * Plain writes together cost a fraction of what they cost alone, and nobody can tell the difference: when one of them
   * fails, nothing of the set is written, and its halves are tried.
   */
  private async runSet(set: readonly BundleEntry[], call: BundleCall, deadline: Deadline): Promise<AnsweredEntry[]> {
    if (set.length === 1 || deadline.isOver) return [await this.runAlone(set[0], call, deadline)];
    try {
      return await this.plainWrites.run(set, call, deadline);
    } catch (error) {
      deadline.checkClient();
      if (serviceErrorOf(error) === undefined && !isTransactionConflict(error)) throw error;
      const middle = Math.ceil(set.length / 2);
      return [
        ...(await this.runSet(set.slice(0, middle), call, deadline)),
        ...(await this.runSet(set.slice(middle), call, deadline)),
      ];
    }
  }

  private async runAlone(entry: BundleEntry | undefined, call: BundleCall, deadline: Deadline): Promise<AnsweredEntry> {
    if (entry === undefined) throw new RangeError('There is no such entry');
    try {
      await deadline.check();
      return answeredEntry(entry, await this.routes.send(entry, call));
    } catch (error) {
      deadline.checkClient();
      return refusedEntry(error, entry);
    }
  }
}

function neighboursOf(entries: readonly BundleEntry[], from: number): readonly BundleEntry[] {
  let end = from;
  while (end < entries.length && end - from < SET_SIZE && isPlainWrite(entries[end])) end++;
  return entries.slice(from, end);
}

/** @throws what is no refusal but a failure of ours: the filter answers it, and logs it. */
function refusedEntry(error: unknown, entry: BundleEntry): AnsweredEntry {
  const refusal = entryError(error, entry.index);
  if (!(refusal instanceof ServiceError)) throw error;
  return {
    kind: 'route',
    status: FHIR_ERRORS[refusal.kind].status,
    text: JSON.stringify(outcomeOf(refusal)),
    isRead: entry.request.method === 'GET',
  };
}
