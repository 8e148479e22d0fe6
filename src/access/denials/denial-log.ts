import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { errorTrace } from '../../platform/logging/error-trace';
import { ADD_DENIAL, FIND_DENIAL, LATEST_DENIALS, PRUNE_DENIALS } from './denial-statements';
import { type DenialSummary } from './denial-summary';

/** Old denials are deleted once per this many new denials, so the table may briefly exceed its maximum. */
const PRUNE_EVERY = 100;

export interface StoredDenial extends DenialSummary {
  readonly id: string;
  /** The time of the denial, in UTC. */
  readonly at: string;
}

/** A denial in a list, without its policies: `GET /auth/decisions/{id}` returns them. */
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
   * Stores a denial before the response is sent, and returns its id. Inside a transaction, the denial is stored after
   * the transaction has ended, since a rollback would undo it. A second connection is not used: if many requests each
   * waited for a second connection, they could deadlock the pool.
   */
  async add(summary: DenialSummary): Promise<string> {
    const id = randomUUID();
    await this.unitOfWork.whenOver(() => this.store(id, summary));
    return id;
  }

  /** @param id the id of a denial, a UUID */
  async find(id: string): Promise<StoredDenial | undefined> {
    const row = await this.statements.runOne<{ denied_at: Date; body: string }>(FIND_DENIAL, [id]);
    if (row === undefined) return undefined;
    return { id, at: row.denied_at.toISOString(), ...(JSON.parse(row.body) as DenialSummary) };
  }

  /** Returns the latest denials, newest first: those of one User, of one Client, or of all callers. */
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

  /** Stores a denial. If that fails, the error is logged, and the request is denied anyway. */
  private async store(id: string, summary: DenialSummary): Promise<void> {
    try {
      await this.statements.run(ADD_DENIAL, [id, JSON.stringify(summary)]);
      if (this.added++ % PRUNE_EVERY === 0) await this.statements.run(PRUNE_DENIALS, []);
    } catch (error) {
      this.logger.error('A denial was not stored', errorTrace(error));
    }
  }
}
