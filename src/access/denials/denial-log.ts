import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { errorTrace } from '../../platform/logging/error-trace';
import { type DenialSummary } from './denial-summary';

const KEPT_HOURS = 24;
const MAX_DENIALS = 10_000;

export const MAX_LISTED = 50;

const ADD_DENIAL: Statement = {
  name: 'access-denial-add',
  text: 'insert into access_denial (id, body) values ($1, $2)',
};

const FIND_DENIAL: Statement = {
  name: 'access-denial-find',
  text: `select id, denied_at, body from access_denial
    where id = $1 and denied_at > clock_timestamp() - interval '${KEPT_HOURS} hours'`,
};

/**
 * Lists the latest denials of a User ($1) or a Client ($2); null selects all. At most {@link MAX_DENIALS} bodies are
 * read, which takes about 50 ms.
 */
const LATEST_DENIALS: Statement = {
  name: 'access-denial-latest',
  text: `select id, denied_at, body::json->>'request' as request from access_denial
    where denied_at > clock_timestamp() - interval '${KEPT_HOURS} hours'
      and ($1::text is null or body::json->'request'->>'user' = $1)
      and ($2::text is null or body::json->'request'->>'client' = $2)
    order by denial_number desc limit ${MAX_LISTED}`,
};

/**
 * Deletes denials that are too old or too many. Both limits are found by the primary key, `denial_number`: the numbers
 * are in the order of time, except between concurrent writers.
 */
const PRUNE_DENIALS: Statement = {
  name: 'access-denial-prune',
  text: `delete from access_denial where denial_number <= greatest(
      (select max(denial_number) from access_denial) - ${MAX_DENIALS},
      coalesce((select denial_number from access_denial where denied_at < clock_timestamp() - interval '${KEPT_HOURS} hours'
        order by denial_number desc limit 1), 0))`,
};

/** Old denials are deleted once per this many new denials, so the table may briefly exceed its maximum. */
const PRUNE_EVERY = 100;

export interface StoredDenial extends DenialSummary {
  readonly id: string;
  readonly at: string;
}

/** A denial without its policies: `GET /auth/decisions/{id}` returns them. */
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

  async find(id: string): Promise<StoredDenial | undefined> {
    const row = await this.statements.runOne<{ denied_at: Date; body: string }>(FIND_DENIAL, [id]);
    if (row === undefined) return undefined;
    return { id, at: row.denied_at.toISOString(), ...(JSON.parse(row.body) as DenialSummary) };
  }

  /** Returns the latest denials, newest first: those of one User, of one Client, or of all callers. */
  async latest(user: string | null, client: string | null): Promise<readonly ListedDenial[]> {
    const rows = await this.statements.run<{ id: string; denied_at: Date; request: string | null }>(LATEST_DENIALS, [
      user,
      client,
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
