import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ShownContent } from '../conditional/shown-content';
import { type Write, type WriteGuard } from '../../resource/writes/write';
import { WriteSet } from '../../resource/writes/write-set';
import { type Bundle, type BundleCall } from './bundle';
import { type Deadline } from './deadline';
import { type AnsweredEntry, preferenceOf, writtenEntry } from './entry-answer';
import { type Matches } from './entry-identities';
import { EntryFaults, atEntry } from './entry-faults';
import { EntryReads } from './entry-reads';
import { FoundMatches, isSameMatches } from './found-matches';
import { TransactionPlanner } from './transaction-planner';
import { type WriteIntent } from './write-intent';
import { WriteIntents } from './write-intents';

/** Runs the entries of a Bundle as one transaction: all of them, or none (http://hl7.org/fhir/R4/http.html#trules). */
@Injectable()
export class TransactionRunner {
  constructor(
    private readonly intents: WriteIntents,
    private readonly found: FoundMatches,
    private readonly planner: TransactionPlanner,
    private readonly set: WriteSet,
    private readonly reads: EntryReads,
    private readonly content: ShownContent,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Runs a transaction and returns the answers of its entries in order. Reads run after all writes of the transaction,
   * wherever they are in the Bundle.
   * @throws ServiceError with the faults of all entries, if they are found before the first write. Later faults (an id
   *   in use, a patch that does not apply) end the transaction, so only the first is reported
   */
  async run(bundle: Bundle, call: BundleCall, deadline: Deadline): Promise<AnsweredEntry[]> {
    const { writes, reads } = await this.intents.of(bundle, call, deadline);
    const matches = await this.found.of(writes, bundle.faults);
    // The plan is made before the transaction holds locks, since making it is slow.
    const planned = await this.planner.plan(writes, matches, bundle.faults, deadline);
    let isFirstTry = true;
    const answers = await this.unitOfWork.run(async () => {
      const plan = await this.planInside(writes, { matches, planned, isFirstTry }, deadline);
      isFirstTry = false;
      const results = await this.set.write(plan, guardOf(deadline));
      const written: [number, AnsweredEntry][] = [];
      for (const [place, write] of plan.entries())
        written.push([write.index, writtenEntry(results[place], await this.isHidden(write, call), call)]);
      const read = await this.reads.read(reads, call, deadline, plan.length > 0);
      deadline.checkClient();
      return new Map<number, AnsweredEntry>([...written, ...read]);
    });
    return bundle.entries.flatMap(({ index }) => answers.get(index) ?? []);
  }

  /** Whether content that the caller did not send would be shown to a caller who may not read it. */
  private async isHidden(write: Write, call: BundleCall): Promise<boolean> {
    const mode = write.mode === 'late' ? write.makes : write.mode;
    const isFound = ['existing', 'patch', 'delete'].includes(mode) && preferenceOf(call) === 'representation';
    return isFound && !(await this.content.isShown(write, write.reach));
  }

  /**
   * Makes the plan when the conditions are locked. The plan made before is used if the searches of the conditions
   * return the same matches now.
   */
  private async planInside(
    writes: readonly WriteIntent[],
    { matches, planned, isFirstTry }: { matches: Matches; planned: Write[]; isFirstTry: boolean },
    deadline: Deadline,
  ): Promise<Write[]> {
    await this.found.lock(writes);
    const faults = new EntryFaults();
    const now = await this.found.ofEntries(writes, faults);
    // Rules change the drafts that they store, so a second try of the transaction needs new drafts.
    if (isFirstTry && isSameMatches(matches, now)) return planned;
    return this.planner.plan(writes, new Map([...matches, ...now]), faults, deadline);
  }
}

/**
 * The guard of a transaction's writes. An error names its entry; faults found before the first write are reported
 * together.
 */
const guardOf = (deadline: Deadline): WriteGuard => ({
  at: atEntry,
  judge: (writes, assert) => {
    const faults = new EntryFaults();
    for (const write of writes)
      faults.atSync(write.index, () => {
        assert(write);
      });
    faults.throwIfAny();
  },
  step: () => deadline.check(),
});
