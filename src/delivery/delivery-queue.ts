import { Injectable, Logger } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Environment } from '../platform/config/environment';
import { type SecretBox } from '../platform/crypto/secret-box';
import { ServiceError } from '../platform/errors/service-error';
import { pipelined } from '../platform/database/pipelined';
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
  READ_DUE,
  RENEW_GENERATION,
  SETTLE,
} from './delivery-statements';
import { type AttemptLogLevel } from './attempt-log-level';
import { type BatchRow, batchIn } from './batch-row';
import { DeliveryFailure } from './delivery-failure';
import { type DeliverySettings } from './delivery-kind';
import { type DeliveryBatch, rendererIn } from './notification-renderer';

export interface DestinationRow {
  readonly destinationKey: number;
  readonly destinationId: string;
  readonly kind: string;
  /** JSON text for the renderer. An open batch may still have an earlier one. */
  readonly presentation: string;
  /** Null if attempts are not logged. */
  readonly attemptLogLevel: AttemptLogLevel | null;
  /** Encrypted JSON, since settings contain secrets. */
  readonly sealedSettings: Buffer;
}

/** Unreadable settings need an operator, who restarts the server with the key. */
const RETRY_UNREADABLE_SECONDS = 60;

/** @throws ServiceError 'busy' if no key of this server opens the settings */
export function settingsIn({ destinationId, sealedSettings }: DestinationRow, box: SecretBox): DeliverySettings {
  const settings = box.tryOpen(sealedSettings);
  if (settings === undefined)
    throw new ServiceError(
      'destination-unreadable',
      `No key of this server opens the settings of SvcTopicDestination/${destinationId}. The operator names the key that encrypted them in SVC_ENCRYPTION_KEYS_ACCEPTED.`,
      { retryAfterSeconds: RETRY_UNREADABLE_SECONDS },
    );
  return JSON.parse(settings.toString()) as DeliverySettings;
}

/**
 * The lease of a worker on one destination. It ends when the attempt is recorded, unless the worker takes the next
 * batch, or when another claim or a change of the destination raises the epoch.
 */
interface Claim extends DestinationRow {
  readonly epoch: number;
  readonly slot: number;
  readonly timeoutSeconds: number;
  readonly maxMessagesInBatch: number;
  /** How many attempts in a row failed before this one. */
  readonly failStreak: number;
  /** Whether another worker held the lease before and did not end its attempt. */
  readonly isOrphaned: boolean;
}

export interface ClaimedBatch extends Claim {
  readonly firstNumber: number;
  readonly eventCount: number;
  /**
   * The content to render, if it was read with the claim. The sender removes it, since the claim itself stays in memory
   * until the attempt ends.
   */
  content?: DeliveryBatch | undefined;
}

export interface AttemptResult {
  readonly durationMilliseconds: number;
  /** The text that `$events` shows, and after a failure also `$status`. */
  readonly outcome: string;
}

export interface Settled {
  /** Whether the result counted. If not, the lease was lost, and another worker delivers the batch again. */
  readonly isInForce: boolean;
  /** The next batch of the destination, if it was requested and there is one. */
  readonly next?: ClaimedBatch | undefined;
}

/** How many due destinations one poll reads. Further ones are read by the next poll, one second later. */
const MAX_DUE = 1_000;

const PROMOTED =
  'The database was promoted or restored to a point in time. Where its replication was asynchronous, acknowledged ' +
  'writes may be missing. Delivery goes on under a new generation.';

const HELD =
  'Delivery is held, since the database was restored or moved to another cluster, until an operator runs ' +
  'the tool after-restore with --release.';

const WORKER_LOST = 'The outcome is unknown: the server that was sending stopped. The batch is sent again.';

/** The queue, as workers use it. Each method is one short transaction. The result of a lost claim changes nothing. */
@Injectable()
export class DeliveryQueue {
  private readonly logger = new Logger(DeliveryQueue.name);
  private isHeld = false;
  /** The values of failed attempts that the next {@link FAIL} statement records. */
  private failures: (readonly unknown[])[] = [];
  private counting: Promise<ReadonlySet<number> | undefined> = Promise.resolve(undefined);

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly modules: ModuleRef,
    private readonly environment: Environment,
  ) {}

  /**
   * Claims a destination and returns its open batch or a new batch; undefined if it is not due or has nothing to send.
   * @param readsTexts whether to read the texts in the same round trip, since a connection is probably open
   */
  claim(slot: number, destinationKey: number, readsTexts: boolean): Promise<ClaimedBatch | undefined> {
    return this.run(async (finish) => {
      const claim = await this.statements.runOne<Claim>(CLAIM, [slot, destinationKey]);
      if (claim === undefined) return undefined;
      if (claim.isOrphaned) await this.statements.run(COUNT_UNKNOWN_OUTCOME, [destinationKey, WORKER_LOST]);
      const [opened] = await finish([this.openBatch(claim, readsTexts)]);
      return opened && { ...opened, content: readsTexts ? opened.content : undefined };
    });
  }

  /** Reads the batch of a claim, to render it. @throws DeliveryFailure when the claim was lost */
  async read(claim: ClaimedBatch): Promise<DeliveryBatch> {
    const [opened] = await this.run((finish) => finish([this.openBatch(claim, true)]));
    if (opened?.content === undefined) throw new DeliveryFailure('The server lost its claim during the attempt');
    return opened.content;
  }

  /** Returns destinations that can be claimed, those with the fewest failures in a row first. */
  due(): Promise<readonly Pick<Claim, 'destinationKey' | 'failStreak'>[]> {
    return this.run(() => this.statements.run(READ_DUE, [MAX_DUE]));
  }

  /**
   * Records a delivery. With `takesNext` the worker keeps the lease and gets the next batch. The call can be repeated
   * after an error.
   */
  settle(claim: ClaimedBatch, { durationMilliseconds, outcome }: AttemptResult, takesNext: boolean): Promise<Settled> {
    const { destinationKey, epoch, slot } = claim;
    const values = [destinationKey, epoch, slot, durationMilliseconds, outcome, takesNext];
    // A repeated call finds the claim settled, and returns the next batch, which the first call opened.
    const following = { ...claim, epoch: epoch + 1, failStreak: 0 };
    return this.run(async (finish) => {
      const settling = this.statements.runOne(SETTLE, values);
      const [settled, next] = await finish([settling, this.openBatch(following, true)]);
      return { isInForce: settled !== undefined || next !== undefined, next };
    });
  }

  /**
   * Records a failure and pauses the destination. The call can be repeated after an error. Failures that arrive while a
   * statement runs are recorded together by the next: many hanging receivers time out together, and a server that
   * stops ends all attempts at once.
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

  /** Returns the epochs of the claims that the worker still holds, by destination. */
  async claimsOf(slot: number): Promise<ReadonlyMap<number, number>> {
    const rows = await this.statements.run<{ destination_key: number; epoch: number }>(READ_CLAIMS, [slot]);
    return new Map(rows.map(({ destination_key: key, epoch }) => [key, epoch]));
  }

  /** Creates a new generation if the database was promoted or restored (ADR 0036). Logs once if delivery is held. */
  async renewGeneration(): Promise<void> {
    const row = await this.statements.runOne<{ finding: string | null; is_held: boolean }>(RENEW_GENERATION, []);
    if (row?.finding === 'timeline') this.logger.warn(PROMOTED);
    if (row?.is_held === true && !this.isHeld) this.logger.warn(HELD);
    this.isHeld = row?.is_held === true;
  }

  /** Raises the low-water mark of the outbox. Called about once a second, outside any transaction. */
  async raiseMark(): Promise<void> {
    await this.statements.run(RAISE_MARK, []);
  }

  /** Records the waiting failures. Returns the keys of the destinations whose claim was still in force. */
  private async countFailures(): Promise<ReadonlySet<number>> {
    const failures = this.failures;
    this.failures = [];
    const columns = Array.from({ length: 6 }, (_value, column) => failures.map((failure) => failure[column]));
    const rows = await this.statements.run<{ destination_key: number }>(FAIL, columns);
    return new Set(rows.map((row) => row.destination_key));
  }

  private async openBatch(claim: Claim, readsTexts: boolean): Promise<ClaimedBatch | undefined> {
    const held = [claim.destinationKey, claim.epoch, claim.slot];
    const reading = readsTexts ? rendererIn(this.modules).statementFor(claim.presentation) : undefined;
    const values = [...held, claim.maxMessagesInBatch, this.environment.baseUrl];
    const [[row], material] = await pipelined([
      this.statements.run<BatchRow & { readonly presentation: string }>(OPEN_BATCH, values),
      reading && this.statements.run(reading, held),
    ]);
    if (row === undefined) return undefined;
    const { presentation } = row;
    const content = { ...batchIn(row, { ...claim, presentation }), material };
    return { ...claim, presentation, firstNumber: content.firstNumber, eventCount: content.events.length, content };
  }

  /** Runs a transaction. Its planner settings share the round trip of its first statements. */
  private run<T>(work: (finish: Finish) => Promise<T>): Promise<T> {
    return this.unitOfWork.run(async (finish) => {
      const [, result] = await pipelined([this.statements.run(PLAN_FOR_LONG_QUEUES, []), work(finish)]);
      return result;
    });
  }
}
