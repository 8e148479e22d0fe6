import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Environment } from '../platform/config/environment';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { ResourceWriter } from '../resource/resource-writer';
import {
  ENDED_SESSIONS,
  FORGET_REFRESH_TOKENS,
  FORGET_TOKENS,
  OUTDATED_SESSIONS,
  TRY_SWEEP,
} from './session-statements';
import { SessionTokens } from './session-tokens.repository';
import { Sessions } from './sessions';

/** Sessions of one transaction: it holds their rows, so it is over in a moment. */
const BATCH = 100;
/** Batches of one sweep: what is left waits for the next. */
const MAX_BATCHES = 100;

/**
 * Closes Sessions whose tokens have expired, and deletes those that were over long ago; their history stays. One
 * replica at a time: each batch is a transaction under a lock that ends with it. Nothing depends on it being in time,
 * since expired tokens are refused by their own time.
 */
@Injectable()
export class SessionSweeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(SessionSweeper.name);
  private sweeping: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly sessions: Sessions,
    private readonly tokens: SessionTokens,
    private readonly writer: ResourceWriter,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly environment: Environment,
    private readonly scheduler: SchedulerRegistry,
  ) {}

  onApplicationBootstrap(): void {
    const { sessionSweepSeconds } = this.environment;
    if (sessionSweepSeconds === 0) return;
    const interval = setInterval(() => {
      this.sweeping ??= this.sweep()
        .catch((error: unknown) => {
          this.logger.warn(`Looking for expired Sessions failed: ${error instanceof Error ? error.name : 'unknown'}`);
        })
        .finally(() => {
          this.sweeping = undefined;
        });
    }, sessionSweepSeconds * 1000);
    this.scheduler.addInterval(SessionSweeper.name, interval);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.sweeping;
  }

  /** Closes what has expired and deletes what is outdated, unless another replica is at it. */
  async sweep(): Promise<void> {
    const closed = await this.inBatches(ENDED_SESSIONS, [BATCH], (sessionId) => this.close(sessionId));
    const { sessionRetentionDays } = this.environment;
    const deleted =
      sessionRetentionDays === 0
        ? 0
        : await this.inBatches(OUTDATED_SESSIONS, [sessionRetentionDays, BATCH], (id) => this.forget(id));
    if (closed + deleted > 0) this.logger.log({ event: 'sessions swept', closed, deleted });
  }

  private async inBatches(
    statement: Statement,
    values: readonly unknown[],
    work: (sessionId: string) => Promise<void>,
  ): Promise<number> {
    let total = 0;
    for (let batch = 0; batch < MAX_BATCHES && !this.isStopping; batch++) {
      const count = await this.unitOfWork.run(async () => {
        const lock = await this.statements.runOne<{ is_mine: boolean }>(TRY_SWEEP, []);
        if (lock?.is_mine !== true) return 0;
        const found = await this.statements.run<{ session_id: string }>(statement, values);
        for (const { session_id: sessionId } of found) await work(sessionId);
        return found.length;
      });
      total += count;
      if (count < BATCH) break;
    }
    return total;
  }

  private async close(sessionId: string): Promise<void> {
    try {
      await this.sessions.close(sessionId);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.logger.warn({ event: 'session could not be closed', sessionId, reason: error.message });
    }
    // Whatever became of the resource, its tokens are over: the next sweep need not look at them again.
    await this.tokens.close(sessionId);
  }

  private async forget(sessionId: string): Promise<void> {
    await this.writer.delete('Session', sessionId);
    await this.statements.run(FORGET_REFRESH_TOKENS, [[sessionId]]);
    await this.statements.run(FORGET_TOKENS, [[sessionId]]);
  }
}
