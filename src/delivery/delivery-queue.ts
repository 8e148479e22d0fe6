import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { inOneFlight } from '../platform/database/in-one-flight';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { type Finish, UnitOfWork } from '../platform/database/unit-of-work';
import {
  CLAIM,
  COUNT_UNKNOWN_OUTCOME,
  FAIL,
  OPEN_BATCH,
  PLAN_FOR_LONG_QUEUES,
  RAISE_MARK,
  READ_CLAIMS,
  SETTLE,
  SLOW_MILLISECONDS,
  SWEEP,
} from './delivery-statements';
import { type AttemptLogLevel } from './attempt-log-level';
import { type EventArrays, eventsIn } from './event-arrays';
import { type Lanes } from './lanes';
import { type BatchOrigin, type DeliveryBatch, NotificationRenderers } from './notification-renderer';

/** The right to deliver to one destination. It ends when the epoch of the destination moves. */
interface Claim {
  readonly destinationKey: number;
  readonly destinationId: string;
  readonly epoch: number;
  readonly slot: number;
  readonly kind: string;
  readonly sealedSettings: Buffer;
  readonly timeoutSeconds: number;
  readonly maxMessagesInBatch: number;
  /** Absent where its attempts are not told in the log. */
  readonly attemptLogLevel: AttemptLogLevel | undefined;
  /** Failed attempts in a row before this one. */
  readonly failStreak: number;
  /** Whether it takes one of the few slots of destinations that failed or were slow. */
  readonly isSuspect: boolean;
}

/** The right to deliver one batch of one destination. */
export interface ClaimedBatch extends DeliveryBatch, Claim {
  /** Of its stored resources. */
  readonly bytes: number;
}

/** How an attempt ended. */
export interface AttemptResult {
  readonly durationMilliseconds: number;
  /** What `$events` and, after a failure, `$status` tell of it. */
  readonly outcome: string;
}

/** Whether a result counted; if not, somebody else delivers the batch again. */
export interface Settled {
  readonly isInForce: boolean;
  /** The next batch of the destination, where one was asked for and there is one. */
  readonly next?: ClaimedBatch;
}

interface ClaimRow {
  readonly destination_key: number;
  readonly destination_id: string;
  readonly kind: string;
  readonly sealed_settings: Buffer;
  readonly epoch: number;
  readonly timeout_seconds: number;
  readonly max_messages_in_batch: number;
  readonly attempt_log_level: AttemptLogLevel | null;
  readonly fail_streak: number;
  readonly is_suspect: boolean;
  readonly presentation: string;
  readonly is_orphaned: boolean;
}

interface BatchRow extends EventArrays {
  readonly first_number: number;
  readonly created_at: Date;
  readonly presentation: string;
  readonly origin: BatchOrigin | null;
  readonly payload_bytes: readonly number[];
}

/** What `$status`, `$events` and the log show of an outcome. */
export const MAX_MESSAGE_LENGTH = 300;

const WORKER_LOST = 'The outcome is unknown: the server that was sending stopped. The batch is sent again.';

/** What workers do to the queue. Each method is one short transaction; results of a lost claim change nothing. */
@Injectable()
export class DeliveryQueue {
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly renderers: NotificationRenderers,
    private readonly environment: Environment,
  ) {}

  /** Takes over the destination that waits longest in these lanes, with its open batch or a new one. */
  async claim(slot: number, lanes: Lanes): Promise<ClaimedBatch | undefined> {
    for (;;) {
      const claimed = await this.unitOfWork.run((finish) => this.claimOnce(slot, lanes, finish));
      if (claimed !== 'settled meanwhile') return claimed;
    }
  }

  /** Counts a delivery; where `takesNext` the worker goes on with the destination's next batch. Can be repeated. */
  settle(claim: ClaimedBatch, { durationMilliseconds, outcome }: AttemptResult, takesNext: boolean): Promise<Settled> {
    const { destinationKey, epoch, slot } = claim;
    const values = [destinationKey, epoch, slot, durationMilliseconds, outcome.slice(0, MAX_MESSAGE_LENGTH), takesNext];
    return this.unitOfWork.run(async (finish) => {
      const settling = this.runOnLongQueue(SETTLE, values);
      if (!takesNext) {
        const [settled] = await finish([settling]);
        return { isInForce: settled.length > 0 };
      }
      // A repetition finds its claim over, and the next batch that the first try opened.
      const opening = this.openBatch({ ...claim, epoch: epoch + 1 }, claim.presentation);
      const [settled, next] = await finish([settling, opening]);
      const isInForce = settled.length > 0 || next !== undefined;
      const isSuspect = durationMilliseconds >= SLOW_MILLISECONDS;
      return next === undefined ? { isInForce } : { isInForce, next: { ...next, failStreak: 0, isSuspect } };
    });
  }

  /** Counts a failure and lets the destination pause. Can be repeated. */
  async fail(
    { destinationKey, epoch, slot }: ClaimedBatch,
    { durationMilliseconds, outcome }: AttemptResult,
    pauseMilliseconds: number,
  ): Promise<Settled> {
    const text = outcome.slice(0, MAX_MESSAGE_LENGTH);
    const values = [destinationKey, epoch, slot, durationMilliseconds, text, pauseMilliseconds];
    return { isInForce: (await this.statements.run(FAIL, values)).length > 0 };
  }

  /** Epochs of the claims of `slot` that are in force, by destination. */
  async claimsOf(slot: number): Promise<ReadonlyMap<number, number>> {
    const rows = await this.statements.run<{ destination_key: number; epoch: number }>(READ_CLAIMS, [slot]);
    return new Map(rows.map(({ destination_key: key, epoch }) => [key, epoch]));
  }

  /** Removes events that no destination waits for any more. */
  async sweep(): Promise<void> {
    await this.statements.run(SWEEP, []);
  }

  /** Lets queues be read from a later beginning; to be called about once a second, outside of any transaction. */
  async raiseMark(): Promise<void> {
    await this.statements.run(RAISE_MARK, []);
  }

  private async claimOnce(
    slot: number,
    { healthy, suspect }: Lanes,
    finish: Finish,
  ): Promise<ClaimedBatch | 'settled meanwhile' | undefined> {
    const [target] = await this.runOnLongQueue<ClaimRow>(CLAIM, [slot, healthy, suspect]);
    if (target === undefined) return undefined;
    if (target.is_orphaned) {
      await this.statements.run(COUNT_UNKNOWN_OUTCOME, [target.destination_key, WORKER_LOST]);
    }
    const [batch] = await finish([this.openBatch(claimOf(target, slot), target.presentation)]);
    return batch ?? 'settled meanwhile';
  }

  /** What the renderer reads of the batch comes in the same flight. @param presentation probably that of the batch */
  private async openBatch(claim: Claim, presentation: string): Promise<ClaimedBatch | undefined> {
    const { destinationKey, epoch, slot, maxMessagesInBatch } = claim;
    const held = [destinationKey, epoch, slot];
    const reading = this.renderers.statementFor(presentation);
    const [[batch], material] = await inOneFlight([
      this.statements.run<BatchRow>(OPEN_BATCH, [...held, maxMessagesInBatch, this.environment.baseUrl]),
      reading && this.statements.run(reading, held),
    ]);
    if (batch === undefined) return undefined;
    // Also where there is none: a claim that goes on holds that of its last batch.
    return { ...claim, ...contentOf(batch), material };
  }

  /** The first statement of a transaction; both travel in one flight. */
  private async runOnLongQueue<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const [, rows] = await inOneFlight([
      this.statements.run(PLAN_FOR_LONG_QUEUES, []),
      this.statements.run<Row>(statement, values),
    ]);
    return rows;
  }
}

const claimOf = (target: ClaimRow, slot: number): Claim => ({
  destinationKey: target.destination_key,
  destinationId: target.destination_id,
  slot,
  kind: target.kind,
  sealedSettings: target.sealed_settings,
  epoch: target.epoch,
  timeoutSeconds: target.timeout_seconds,
  maxMessagesInBatch: target.max_messages_in_batch,
  attemptLogLevel: target.attempt_log_level ?? undefined,
  failStreak: target.fail_streak,
  isSuspect: target.is_suspect,
});

const contentOf = (batch: BatchRow) => ({
  presentation: batch.presentation,
  createdAt: batch.created_at,
  origin: batch.origin,
  firstNumber: batch.first_number,
  bytes: batch.payload_bytes.reduce((sum, bytes) => sum + bytes, 0),
  events: eventsIn(batch),
});
