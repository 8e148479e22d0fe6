import { Injectable } from '@nestjs/common';
import { REFUSAL } from '../../fhir/edge/fhir-answer';
import { TransactionConflict } from '../../platform/database/database-error';
import { Statements } from '../../platform/database/statements';
import { TimeLimit } from '../../platform/database/time-limit';
import { errorCodeOf, ServiceError } from '../../platform/errors/service-error';
import { type BundleEntry, type BundleCall } from './bundle';
import { type Deadline } from './deadline';
import { MOST_CHARACTERS, type AnsweredEntry } from './entry-answer';
import { EntryFaults, faultAt } from './entry-faults';
import { EntryRoutes, answeredEntry } from './entry-routes';

/**
 * Maximum number of seconds for all reads of a transaction that has locked rows. Other writers of these rows are
 * refused after waiting for 5 s.
 */
const LOCKED_SECONDS = 2;
const TOO_SLOW = `The reads of this transaction took longer than ${LOCKED_SECONDS} s, while what it writes is locked; nothing was written. Send slow reads by themselves, after it.`;

/**
 * Runs the reads and searches of a transaction. Each is answered by the route that would answer it alone, but inside
 * the transaction.
 */
@Injectable()
export class EntryReads {
  constructor(
    private readonly routes: EntryRoutes,
    private readonly statements: Statements,
  ) {}

  /**
   * Returns the answers by the number of the entry.
   * @param isLocking whether the transaction writes; its locks are then held for a bounded time (ADR 0017)
   * @throws ServiceError of the kind that the route answered; one failed read fails the transaction
   */
  async read(
    reads: readonly BundleEntry[],
    call: BundleCall,
    deadline: Deadline,
    isLocking: boolean,
  ): Promise<Map<number, AnsweredEntry>> {
    const answers = new Map<number, AnsweredEntry>();
    const faults = new EntryFaults();
    const limit = isLocking ? new TimeLimit(LOCKED_SECONDS, TOO_SLOW) : undefined;
    let room = MOST_CHARACTERS;
    for (const entry of reads) {
      const one = (): Promise<AnsweredEntry> => this.readOne(entry, call, room, limit);
      const answer = await faults.at(entry.index, limit === undefined ? one : () => this.statements.within(limit, one));
      if (answer !== undefined) answers.set(entry.index, answer);
      room -= answer?.text.length ?? 0;
      await deadline.check();
    }
    faults.throwIfAny();
    return answers;
  }

  private async readOne(
    entry: BundleEntry,
    call: BundleCall,
    mostCharacters: number,
    limit: TimeLimit | undefined,
  ): Promise<AnsweredEntry> {
    if (call.isSystem) throw faultAt('request.method', 'This Bundle can only write.');
    limit?.assertLeft();
    const answer = await this.routes.send(entry, call, mostCharacters);
    if (answer.refusal !== undefined) throw answer.refusal;
    if (answer.status < 400) return answeredEntry(entry, answer);
    const refused = answer.locals[REFUSAL];
    if (!(refused instanceof ServiceError)) throw new Error(`An inner request was answered with ${answer.status}`);
    const { kind, message } = refused;
    if (kind === 'timeout') limit?.assertLeft();
    if (kind === 'busy') throw new TransactionConflict('A read of a transaction was refused');
    throw new ServiceError(kind, message, { code: errorCodeOf(refused), expression: 'request' });
  }
}
