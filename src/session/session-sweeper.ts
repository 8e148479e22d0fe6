import { Injectable, Logger } from '@nestjs/common';
import { Background, type BackgroundTask } from '../platform/background/background';
import { Environment } from '../platform/config/environment';
import { SESSION_SWEEP_LOCK } from '../platform/database/advisory-locks';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { ResourceWriter } from '../resource/resource-writer';
import { SessionTokens } from './session-tokens.repository';
import { Sessions } from './sessions';

const ENDED_SESSIONS: Statement = {
  name: 'session-ended',
  text: `select session_id from session_token where closed_at is null and ends_at <= clock_timestamp()
    order by ends_at limit $1`,
};

const OUTDATED_SESSIONS: Statement = {
  name: 'session-outdated',
  text: `select session_id from session_token where closed_at <= clock_timestamp() - make_interval(days => $1::int)
    order by closed_at limit $2`,
};

const FORGET_TOKENS: Statement = {
  name: 'session-forget-tokens',
  text: `with forgotten as (delete from refresh_token where session_id = $1)
    delete from session_token where session_id = $1`,
};

/** Sessions per step. A transaction that is idle meanwhile holds the lock of the step, so it must be short. */
const BATCH = 100;

/**
 * Closes Sessions whose tokens have expired, and deletes Sessions that ended long ago; the history of both stays. A
 * delay is harmless: an expired token is refused even if its Session is still open.
 */
@Injectable()
@Background({
  task: 'sweep of Sessions',
  interval: ({ sessionSweepSeconds }) => sessionSweepSeconds * 1000,
  lock: SESSION_SWEEP_LOCK,
})
export class SessionSweeper implements BackgroundTask {
  private readonly logger = new Logger(SessionSweeper.name);

  constructor(
    private readonly sessions: Sessions,
    private readonly tokens: SessionTokens,
    private readonly writer: ResourceWriter,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly environment: Environment,
  ) {}

  async step(): Promise<number | undefined> {
    const { sessionRetentionDays: days } = this.environment;
    const closed = await this.each(ENDED_SESSIONS, [BATCH], (sessionId) => this.close(sessionId));
    const isFull = closed === BATCH || days === 0;
    const deleted = isFull ? 0 : await this.each(OUTDATED_SESSIONS, [days, BATCH], (id) => this.forget(id));
    if (closed + deleted > 0) this.logger.log({ event: 'sessions swept', closed, deleted });
    return closed === BATCH || deleted === BATCH ? 0 : undefined;
  }

  private async each(
    statement: Statement,
    values: readonly unknown[],
    work: (sessionId: string) => Promise<void>,
  ): Promise<number> {
    const found = await this.statements.run<{ session_id: string }>(statement, values);
    // Each Session has a separate transaction. In the transaction of the step, a write that fails would not be rolled
    // back: the half that was done would be stored.
    for (const { session_id: sessionId } of found) await this.unitOfWork.outside(() => work(sessionId));
    return found.length;
  }

  private async close(sessionId: string): Promise<void> {
    await this.write(sessionId, 'closed', () => this.sessions.close(sessionId));
    await this.tokens.close(sessionId);
  }

  private async forget(sessionId: string): Promise<void> {
    await this.write(sessionId, 'deleted', () => this.writer.delete('Session', sessionId));
    await this.statements.run(FORGET_TOKENS, [sessionId]);
  }

  /** The tokens end even if the Session cannot be written, so that the next sweep skips this Session. */
  private async write(sessionId: string, outcome: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.logger.warn({ event: `session could not be ${outcome}`, sessionId, reason: error.message });
    }
  }
}
