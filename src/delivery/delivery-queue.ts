import { Injectable } from '@nestjs/common';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import {
  CLAIM,
  COUNT_UNKNOWN_OUTCOME,
  FAIL,
  OPEN_BATCH,
  PLAN_FOR_LONG_QUEUES,
  READ_CLAIMS,
  READ_EVENTS,
  RELEASE,
  SETTLE,
  SWEEP,
} from './delivery-statements';
import { type DeliveryBatch } from './notification-renderer';

/** The right to deliver one batch of one destination. It ends when the epoch of the destination moves. */
export interface ClaimedBatch extends DeliveryBatch {
  readonly destinationKey: number;
  readonly epoch: number;
  readonly slot: number;
  readonly eventIds: readonly number[];
  readonly kind: string;
  readonly sealedSettings: Buffer;
  readonly timeoutSeconds: number;
  /** Failed attempts in a row before this one. */
  readonly failStreak: number;
}

interface ClaimRow {
  readonly destination_key: number;
  readonly destination_id: string;
  readonly kind: string;
  readonly sealed_settings: Buffer;
  readonly epoch: number;
  readonly timeout_seconds: number;
  readonly max_messages_in_batch: number;
  readonly fail_streak: number;
  readonly is_orphaned: boolean;
}

interface BatchRow {
  readonly first_number: number;
  readonly created_at: Date;
  /** node-postgres leaves the elements of a bigint array as text. */
  readonly event_ids: readonly string[];
  readonly presentation: string;
}

interface EventRow {
  readonly resource_type: string;
  readonly resource_id: string;
  readonly version: number;
  readonly interaction: string;
  readonly method: string;
}

/** What `$status` shows of an error. */
const MAX_MESSAGE_LENGTH = 300;

const WORKER_LOST = 'The outcome is unknown: the server that was sending stopped. The batch is sent again.';

/** What workers do to the queue. Each method is one short transaction; results of a lost claim change nothing. */
@Injectable()
export class DeliveryQueue {
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Takes over the destination that waits longest, with its open batch or a new one; undefined when none is due. */
  async claim(slot: number): Promise<ClaimedBatch | undefined> {
    for (;;) {
      const claimed = await this.unitOfWork.run(() => this.claimOnce(slot));
      if (claimed !== 'settled meanwhile') return claimed;
    }
  }

  /** Whether the claim was still in force; if not, somebody else delivers the batch again. Can be repeated. */
  async settle({ destinationKey, epoch, slot, eventIds }: ClaimedBatch): Promise<boolean> {
    const values = [destinationKey, epoch, slot, eventIds];
    const settled = await this.unitOfWork.run(() => this.runOnLongQueue(SETTLE, values));
    return settled.length > 0;
  }

  /** Whether the claim was still in force. Can be repeated. */
  async fail(claim: ClaimedBatch, pauseMilliseconds: number, message: string): Promise<boolean> {
    const { destinationKey, epoch, slot, eventIds } = claim;
    const text = message.slice(0, MAX_MESSAGE_LENGTH);
    const failed = await this.statements.run(FAIL, [
      destinationKey,
      epoch,
      slot,
      eventIds.length,
      pauseMilliseconds,
      text,
    ]);
    return failed.length > 0;
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

  private async claimOnce(slot: number): Promise<ClaimedBatch | 'settled meanwhile' | undefined> {
    const [target] = await this.runOnLongQueue<ClaimRow>(CLAIM, [slot]);
    if (target === undefined) return undefined;
    const { destination_key: destinationKey, epoch } = target;
    if (target.is_orphaned) await this.statements.run(COUNT_UNKNOWN_OUTCOME, [destinationKey, WORKER_LOST]);
    const batch = await this.statements.runOne<BatchRow>(OPEN_BATCH, [destinationKey, target.max_messages_in_batch]);
    if (batch === undefined) {
      await this.statements.run(RELEASE, [destinationKey, epoch]);
      return 'settled meanwhile';
    }
    const events = await this.statements.run<EventRow>(READ_EVENTS, [destinationKey, batch.event_ids]);
    return { slot, ...claimOf(target), ...contentOf(batch, events) };
  }

  /** The first statement of a transaction; both travel in one flight. */
  private async runOnLongQueue<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const [, rows] = await Promise.all([
      this.statements.run(PLAN_FOR_LONG_QUEUES, []),
      this.statements.run<Row>(statement, values),
    ]);
    return rows;
  }
}

const claimOf = (target: ClaimRow) => ({
  destinationKey: target.destination_key,
  destinationId: target.destination_id,
  kind: target.kind,
  sealedSettings: target.sealed_settings,
  epoch: target.epoch,
  timeoutSeconds: target.timeout_seconds,
  failStreak: target.fail_streak,
});

const contentOf = (batch: BatchRow, events: readonly EventRow[]) => ({
  presentation: batch.presentation,
  createdAt: batch.created_at,
  firstNumber: batch.first_number,
  eventIds: batch.event_ids.map(Number),
  events: events.map(({ resource_type: type, resource_id: id, version, interaction, method }) => ({
    type,
    id,
    version,
    interaction,
    method,
  })),
});
