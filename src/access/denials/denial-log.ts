import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { errorTrace } from '../../platform/logging/error-trace';
import { ADD_DENIAL, FIND_DENIAL, LATEST_DENIALS, PRUNE_DENIALS } from './denial-statements';
import { type DenialSummary } from './denial-summary';

/** Prunes once per this many denials, so the table briefly exceeds its maximum. */
const PRUNE_EVERY = 100;

export interface StoredDenial extends DenialSummary {
  readonly id: string;
  /** An instant in UTC. */
  readonly at: string;
}

/** A denial in a list: its decision has the policies. */
export type ListedDenial = Pick<StoredDenial, 'id' | 'at' | 'request'>;

/** Stores denials in the database, so that any replica can return them. */
@Injectable()
export class DenialLog {
  private readonly logger = new Logger(DenialLog.name);
  private added = 0;

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Stores a denial before the response is sent. It waits for the end of the open transaction, whose rollback would
   * undo it. It takes no second connection meanwhile: requests that each wait for a second one could deadlock the pool.
   * Returns the id of the denial.
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

  /** The latest denials, newest first; of one User, one Client, or of all. */
  async latest(user: string | undefined, client: string | undefined): Promise<readonly ListedDenial[]> {
    const rows = await this.statements.run<{ id: string; denied_at: Date; request: string | null }>(LATEST_DENIALS, [
      user ?? null,
      client ?? null,
    ]);
    return rows.map(({ id, denied_at: at, request }) => ({
      id,
      at: at.toISOString(),
      request: JSON.parse(request ?? '{}') as DenialSummary['request'],
    }));
  }

  /** A failed write is logged; the request is denied anyway. */
  private async store(id: string, summary: DenialSummary): Promise<void> {
    try {
      await this.statements.run(ADD_DENIAL, [id, JSON.stringify(summary)]);
      if (this.added++ % PRUNE_EVERY === 0) await this.statements.run(PRUNE_DENIALS, []);
    } catch (error) {
      this.logger.error('A denial was not stored', errorTrace(error));
    }
  }
}
