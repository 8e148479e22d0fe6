import { Injectable, Logger } from '@nestjs/common';
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
  RENEW_GENERATION,
  SETTLE,
} from './delivery-statements';
import { type AttemptLogLevel } from './attempt-log-level';
import { type BatchRow, batchIn } from './batch-row';
import { DeliveryFailure } from './delivery-failure';
import { type DeliveryBatch, NotificationRenderers } from './notification-renderer';

/** The lease on one destination. It ends when the epoch of the destination rises. */
interface Claim {
  readonly destinationKey: number;
  readonly destinationId: string;
  readonly epoch: number;
  readonly slot: number;
  readonly kind: string;
  readonly sealedSettings: Buffer;
  readonly timeoutSeconds: number;
  readonly maxMessagesInBatch: number;
  /** Null if its attempts are not logged. */
  readonly attemptLogLevel: AttemptLogLevel | null;
  /** Failed attempts in a row before this one. */
  readonly failStreak: number;
  /** Whether the previous lease holder has died. */
  readonly isOrphaned: boolean;
  /** Usually that of the batch, too. */
  readonly presentation: string;
}

/** The lease on one batch of one destination. */
export interface ClaimedBatch extends Claim {
  readonly firstNumber: number;
  readonly eventCount: number;
  /** The content to render, if it was read with the claim. The sender removes it, to free it before the response. */
  content?: DeliveryBatch | undefined;
}

/** The result of an attempt. */
export interface AttemptResult {
  readonly durationMilliseconds: number;
  /** Shown by `$events` and, after a failure, by `$status`. */
  readonly outcome: string;
}

/** Whether a result counted; if not, another worker delivers the batch again. */
export interface Settled {
  readonly isInForce: boolean;
  /** The next batch of the destination, if requested and present. */
  readonly next?: ClaimedBatch | undefined;
}

/** More are read one second later. */
const MAX_DUE = 1_000;

const PROMOTED =
  'The database was promoted or restored to a point in time. Where its replication was asynchronous, acknowledged ' +
  'writes may be missing. Delivery goes on under a new generation.';

const HELD =
  'Delivery is held, since the database was restored or moved to another cluster, until an operator runs ' +
  '"npm run after-restore -- --release".';

const WORKER_LOST = 'The outcome is unknown: the server that was sending stopped. The batch is sent again.';

/** Statements of workers on the queue. Each method is one short transaction; results of a lost claim change nothing. */
@Injectable()
export class DeliveryQueue {
  private readonly logger = new Logger(DeliveryQueue.name);
  private isHeld = false;
  /** Values for {@link FAIL} that wait for the next statement. */
  private failures: (readonly unknown[])[] = [];
  private counting: Promise<ReadonlySet<number> | undefined> = Promise.resolve(undefined);

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly renderers: NotificationRenderers,
    private readonly environment: Environment,
  ) {}

  /**
   * Claims a destination with its open batch or a new one; undefined if it is not due or has nothing to send.
   * @param readsTexts also reads the texts, in the same pipelined round trip. Use it if a connection to the receiver is
   * probably open
   */
  claim(slot: number, destinationKey: number, readsTexts: boolean): Promise<ClaimedBatch | undefined> {
    return this.unitOfWork.run(async (finish) => {
      const [claim] = await this.runOnLongQueue<Claim>(CLAIM, [slot, destinationKey]);
      if (claim === undefined) return undefined;
      if (claim.isOrphaned) await this.statements.run(COUNT_UNKNOWN_OUTCOME, [destinationKey, WORKER_LOST]);
      const [opened] = await finish([this.openBatch(claim, readsTexts)]);
      return opened && { ...opened, content: readsTexts ? opened.content : undefined };
    });
  }

  /** The batch of a claim, for rendering. @throws DeliveryFailure when the claim is no longer in force */
  async read(claim: ClaimedBatch): Promise<DeliveryBatch> {
    const opened = await this.unitOfWork.run(async (finish) => {
      const planning = this.statements.run(PLAN_FOR_LONG_QUEUES, []);
      const [, read] = await finish([planning, this.openBatch(claim, true)]);
      return read;
    });
    if (opened?.content === undefined) throw new DeliveryFailure('The server lost its claim during the attempt');
    return opened.content;
  }

  /** Destinations that can be claimed: at most 1,000, those with the fewest failures in a row first. */
  due(): Promise<readonly Pick<Claim, 'destinationKey' | 'failStreak'>[]> {
    return this.unitOfWork.run(() => this.runOnLongQueue(READ_DUE, [MAX_DUE]));
  }

  /** Records a delivery; with `takesNext` the worker keeps the lease and gets the next batch. Can be repeated. */
  settle(claim: ClaimedBatch, { durationMilliseconds, outcome }: AttemptResult, takesNext: boolean): Promise<Settled> {
    const { destinationKey, epoch, slot } = claim;
    const values = [destinationKey, epoch, slot, durationMilliseconds, outcome, takesNext];
    // A repetition finds the claim already settled, and the next batch that the first try opened.
    const following = { ...claim, epoch: epoch + 1, failStreak: 0 };
    return this.unitOfWork.run(async (finish) => {
      const settling = this.runOnLongQueue(SETTLE, values);
      const [settled, next] = await finish([settling, this.openBatch(following, true)]);
      const isInForce = settled.length > 0 || next !== undefined;
      return { isInForce, next };
    });
  }

  /**
   * Records a failure and pauses the destination. Can be repeated. Failures that arrive during one statement share the
   * next one: receivers that hang fail together, and a server that stops ends all attempts at once.
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

  /** Creates a generation, for notifications, if the history of the database changed (ADR 0036). Logs a hold once. */
  async renewGeneration(): Promise<void> {
    const row = await this.statements.runOne<{ finding: string | null; is_held: boolean }>(RENEW_GENERATION, []);
    if (row?.finding === 'timeline') this.logger.warn(PROMOTED);
    if (row?.is_held === true && !this.isHeld) this.logger.warn(HELD);
    this.isHeld = row?.is_held === true;
  }

  /** Raises the low-water mark of the outbox; call it about once a second, outside any transaction. */
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

  /** The open batch of a claim, or a new one. Reads the texts for the renderer in the same pipelined round trip. */
  private async openBatch(claim: Claim, readsTexts: boolean): Promise<ClaimedBatch | undefined> {
    const held = [claim.destinationKey, claim.epoch, claim.slot];
    const reading = readsTexts ? this.renderers.only.statementFor(claim.presentation) : undefined;
    const [[row], material] = await inOneFlight([
      this.statements.run<BatchRow & { readonly presentation: string }>(OPEN_BATCH, [
        ...[...held, claim.maxMessagesInBatch, this.environment.baseUrl],
      ]),
      reading && this.statements.run(reading, held),
    ]);
    if (row === undefined) return undefined;
    const { presentation } = row;
    const content = { ...batchIn(row, { ...claim, presentation }), material };
    return { ...claim, presentation, firstNumber: content.firstNumber, eventCount: content.events.length, content };
  }

  /** Runs a transaction's first statement with its planner settings, in one pipelined round trip. */
  private async runOnLongQueue<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const [, rows] = await inOneFlight([
      this.statements.run(PLAN_FOR_LONG_QUEUES, []),
      this.statements.run<Row>(statement, values),
    ]);
    return rows;
  }
}
