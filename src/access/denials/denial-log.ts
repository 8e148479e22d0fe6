import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { errorTrace } from '../../platform/logging/error-trace';
import { ADD_DENIAL, FIND_DENIAL, PRUNE_DENIALS } from './denial-statements';
import { type DenialSummary } from './denial-summary';

/** Pruned once for so many; in between there are a few more than the most. */
const PRUNE_EVERY = 100;

export interface StoredDenial extends DenialSummary {
  readonly id: string;
  /** Instant in UTC. */
  readonly at: string;
}

/** Denials in the database, so that any replica can tell about them. */
@Injectable()
export class DenialLog {
  private readonly logger = new Logger(DenialLog.name);
  private added = 0;

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Stores a denial before it is answered, but not in the open transaction, which it will undo, nor beside it: whoever waits for a
   * second connection could wait for others who wait just so. Returns the id that it is found by.
   */
  async add(summary: DenialSummary): Promise<string> {
    const id = randomUUID();
    await this.unitOfWork.whenOver(() => this.store(id, summary));
    return id;
  }

  /** @param id a UUID */
  async find(id: string): Promise<StoredDenial | undefined> {
    const row = await this.statements.runOne<{ denied_at: Date; body: string }>(FIND_DENIAL, [id]);
    if (row === undefined) return undefined;
    return { id, at: row.denied_at.toISOString(), ...(JSON.parse(row.body) as DenialSummary) };
  }

  /** What cannot be stored is denied all the same. */
  private async store(id: string, summary: DenialSummary): Promise<void> {
    try {
      await this.statements.run(ADD_DENIAL, [id, JSON.stringify(summary)]);
      if (this.added++ % PRUNE_EVERY === 0) await this.statements.run(PRUNE_DENIALS, []);
    } catch (error) {
      this.logger.error('A denial was not stored', errorTrace(error));
    }
  }
}
