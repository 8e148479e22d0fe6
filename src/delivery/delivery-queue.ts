import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { inOneFlight } from '../platform/database/in-one-flight';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import {
  CLAIM,
  COUNT_UNKNOWN_OUTCOME,
  FAIL,
  OPEN_BATCH,
  PLAN_FOR_LONG_QUEUES,
  RAISE_MARK,
  READ_CLAIMS,
  READ_DUE,
  SETTLE,
} from './delivery-statements';
import { type AttemptLogLevel } from './attempt-log-level';
import { type BatchRow, batchIn } from './batch-row';
import { DeliveryFailure } from './delivery-failure';
import { type DeliveryBatch, NotificationRenderers } from './notification-renderer';

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
  /** Null where its attempts are not logged. */
  readonly attemptLogLevel: AttemptLogLevel | null;
  /** Failed attempts in a row before this one. */
  readonly failStreak: number;
  /** Whether the process that held the destination before is gone. */
  readonly isOrphaned: boolean;
  /** Probably that of the batch. */
  readonly presentation: string;
}

/** The right to deliver one batch of one destination. */
export interface ClaimedBatch extends Claim {
  readonly firstNumber: number;
  readonly eventCount: number;
  /** The content to render, if it was read with the claim. The sender removes it, so it is not kept until the answer. */
  content?: DeliveryBatch | undefined;
}

/** A destination that can be claimed. */
export interface Due {
  readonly destinationKey: number;
  /** Failed attempts in a row. */
  readonly failStreak: number;
}

/** How an attempt ended. */
export interface AttemptResult {
  readonly durationMilliseconds: number;
  /** Shown by `$events` and, after a failure, by `$status`. */
  readonly outcome: string;
}

/** Whether a result counted; if not, another worker delivers the batch again. */
export interface Settled {
  readonly isInForce: boolean;
  /** The next batch of the destination, where one was asked for and there is one. */
  readonly next?: ClaimedBatch | undefined;
}

/** Further ones are found a second later. */
const MAX_DUE = 1_000;

const WORKER_LOST = 'The outcome is unknown: the server that was sending stopped. The batch is sent again.';

/** The statements of workers on the queue. Each method is one short transaction; results of a lost claim change nothing. */
@Injectable()
export class DeliveryQueue {
  /** Values of {@link FAIL} that no statement has taken yet. */
  private failures: (readonly unknown[])[] = [];
  private counting: Promise<ReadonlySet<number> | undefined> = Promise.resolve(undefined);

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly renderers: NotificationRenderers,
    private readonly environment: Environment,
  ) {}

  /**
   * Takes a destination over, with its open batch or a new one; undefined where it is not due or has nothing to send.
   * @param readsTexts with the claim, in one flight: where a connection is probably open. Else they are read when there is one
   */
  claim(slot: number, destinationKey: number, readsTexts: boolean): Promise<ClaimedBatch | undefined> {
    return this.unitOfWork.run(async (finish) => {
      const [claim] = await this.runOnLongQueue<Claim>(CLAIM, [slot, destinationKey]);
      if (claim === undefined) return undefined;
      if (claim.isOrphaned) await this.statements.run(COUNT_UNKNOWN_OUTCOME, [destinationKey, WORKER_LOST]);
      const [opened] = await finish([this.openBatch(claim, readsTexts)]);
      return opened && batchOf(claim, opened, readsTexts);
    });
  }

  /** The batch of a claim, for rendering. @throws DeliveryFailure when the claim is no longer in force */
  async read(claim: ClaimedBatch): Promise<DeliveryBatch> {
    const opened = await this.unitOfWork.run(async (finish) => {
      const planning = this.statements.run(PLAN_FOR_LONG_QUEUES, []);
      const [, read] = await finish([planning, this.openBatch(claim, true)]);
      return read;
    });
    if (opened === undefined) throw new DeliveryFailure('The server lost its claim during the attempt');
    return opened;
  }

  /** Destinations that can be claimed: at most 1,000, those with the fewest failures in a row first. */
  due(): Promise<readonly Due[]> {
    return this.unitOfWork.run(() => this.runOnLongQueue<Due>(READ_DUE, [MAX_DUE]));
  }

  /** Counts a delivery; where `takesNext` the worker goes on with the destination's next batch. Can be repeated. */
  settle(claim: ClaimedBatch, { durationMilliseconds, outcome }: AttemptResult, takesNext: boolean): Promise<Settled> {
    const { destinationKey, epoch, slot } = claim;
    const values = [destinationKey, epoch, slot, durationMilliseconds, outcome, takesNext];
    // A repetition finds its claim over, and the next batch that the first try opened.
    const following = { ...claim, epoch: epoch + 1, failStreak: 0 };
    return this.unitOfWork.run(async (finish) => {
      const settling = this.runOnLongQueue(SETTLE, values);
      const [settled, next] = await finish([settling, this.openBatch(following, true)]);
      const isInForce = settled.length > 0 || next !== undefined;
      return { isInForce, next: next && batchOf(following, next, true) };
    });
  }

  /**
   * Counts a failure and lets the destination pause. Can be repeated. Failures that come while one statement runs share the
   * next: receivers that hang fail together, and a server that stops ends all attempts at once.
   */
  async fail(
    { destinationKey, epoch, slot }: ClaimedBatch,
    { durationMilliseconds, outcome }: AttemptResult,
    pauseMilliseconds: number,
  ): Promise<Settled> {
    const size = this.failures.push([destinationKey, epoch, slot, durationMilliseconds, outcome, pauseMilliseconds]);
    if (size === 1) this.counting = this.counting.catch(() => undefined).then(() => this.countFailures());
    return { isInForce: (await this.counting)?.has(destinationKey) === true };
  }

  /** Epochs of the claims of `slot` that are in force, by destination. */
  async claimsOf(slot: number): Promise<ReadonlyMap<number, number>> {
    const rows = await this.statements.run<{ destination_key: number; epoch: number }>(READ_CLAIMS, [slot]);
    return new Map(rows.map(({ destination_key: key, epoch }) => [key, epoch]));
  }

  /** Lets queues be read from a later beginning; to be called about once a second, outside of any transaction. */
  async raiseMark(): Promise<void> {
    await this.statements.run(RAISE_MARK, []);
  }

  /** Returns the destinations whose claims were in force. */
  private async countFailures(): Promise<ReadonlySet<number>> {
    const failures = this.failures;
    this.failures = [];
    const columns = Array.from({ length: 6 }, (_value, column) => failures.map((failure) => failure[column]));
    const rows = await this.statements.run<{ destination_key: number }>(FAIL, columns);
    return new Set(rows.map((row) => row.destination_key));
  }

  /** The texts for the renderer are read in the same pipelined round trip. */
  private async openBatch(
    { destinationKey, destinationId, epoch, slot, maxMessagesInBatch, presentation }: Claim,
    readsTexts: boolean,
  ): Promise<DeliveryBatch | undefined> {
    const held = [destinationKey, epoch, slot];
    const reading = readsTexts ? this.renderers.statementFor(presentation) : undefined;
    const [[batch], material] = await inOneFlight([
      this.statements.run<BatchRow & { readonly presentation: string }>(OPEN_BATCH, [
        ...held,
        maxMessagesInBatch,
        this.environment.baseUrl,
      ]),
      reading && this.statements.run(reading, held),
    ]);
    return batch && { ...batchIn(batch, { destinationId, presentation: batch.presentation }), material };
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

const batchOf = (claim: Claim, content: DeliveryBatch, keepsContent: boolean): ClaimedBatch => ({
  ...claim,
  firstNumber: content.firstNumber,
  presentation: content.presentation,
  eventCount: content.events.length,
  content: keepsContent ? content : undefined,
});
