import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { BackgroundTasks } from '../platform/background/background-tasks';
import { Statements } from '../platform/database/statements';
import { TimeLimit } from '../platform/database/time-limit';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { SecretBox } from '../platform/crypto/secret-box';
import { ServiceError } from '../platform/errors/service-error';
import { type DeliverySettings } from './delivery-kind';
import { COUNT_UNKNOWN_OUTCOME } from './delivery-statements';
import { type DestinationRow, settingsIn } from './delivery-queue';
import { DeliveryWorker } from './delivery-worker';
import { QUEUE_SWEEP } from './queue-sweeper';
import { END_PAUSE, FIND, FIND_NEWEST, LIST, LOCK, READ_STATUS, REMOVE, STORE } from './destination-statements';

export interface DestinationSettings {
  readonly kind: string;
  readonly settings: DeliverySettings;
}

export type Destination = DestinationSettings & Pick<DestinationRow, 'presentation' | 'attemptLogLevel'>;

export interface DestinationRuntime extends DestinationRow {
  /** Number of the first event of the next batch. It does not change while a batch is open. */
  readonly nextEventNumber: number;
  /** The worker slot of the lease holder; null if no worker holds the lease. */
  readonly ownerSlot: number | null;
}

/** The error of an attempt, without credentials, header values or response bodies. */
export interface DeliveryError {
  readonly message: string;
  /** When the attempt failed, in ISO 8601 by the database clock. */
  readonly timestamp: string;
}

/** States of a destination. `held`: the database was restored or moved, and an operator must release delivery. */
export const DESTINATION_STATES = ['active', 'failing', 'held'] as const;
export type DestinationState = (typeof DESTINATION_STATES)[number];

/** The state of a destination, and its totals since it was created. All replicas return the same values. */
export interface DestinationStatus {
  readonly id: string;
  readonly kind: string;
  readonly presentation: string;
  readonly state: DestinationState;
  readonly startedAt: Date;
  /** How many attempts failed since the last delivery. */
  readonly failStreak: number;
  readonly nextAttemptAt: Date;
  /** The latest errors, newest first. */
  readonly lastErrors: readonly DeliveryError[];
  readonly deliveredBatches: number;
  readonly failedBatches: number;
  readonly deliveredEvents: number;
  readonly failedEvents: number;
  readonly eventsInProcess: number;
  readonly eventsQueued: number;
  /** Seconds since the change that caused the oldest undelivered event; null if there is none. */
  readonly oldestAge: number | null;
  /** Counts of the latest 24 hours, oldest first, without the hours that have none. Hours are numbered since 1970. */
  readonly hours: readonly (readonly [hour: number, delivered: number, failed: number])[] | null;
  /** Seconds from the change to the delivery, as a sum over all delivered events. */
  readonly latencySeconds: number;
  /** How many events were delivered within each of `LATENCY_BOUNDS_SECONDS`. */
  readonly latencyCounts: readonly number[];
}

/** How many queued events `$overview` counts for a destination. A longer queue is not counted to its end. */
export const MOST_COUNTED = 1_000;

const STATUS_SECONDS = 30;

/** How many destinations a line of the log names. */
const MOST_NAMED = 10;

const RECONFIGURED = 'The outcome is unknown: the destination was changed during the attempt. The batch is sent again.';

/** Creates, changes, deletes and reports destinations. */
@Injectable()
export class Destinations implements OnApplicationBootstrap {
  private readonly logger = new Logger(Destinations.name);

  constructor(
    private readonly secrets: SecretBox,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly worker: DeliveryWorker,
    private readonly background: BackgroundTasks,
  ) {}

  /** Logs destinations whose settings no key of this server opens. A server with an older key may have stored them. */
  async onApplicationBootstrap(): Promise<void> {
    const rows = await this.statements.run<Pick<DestinationRow, 'destinationId' | 'sealedSettings'>>(FIND_NEWEST, []);
    const unreadable = rows.filter(({ sealedSettings }) => this.secrets.tryOpen(sealedSettings) === undefined);
    if (unreadable.length === 0) return;
    const ids = unreadable.slice(0, MOST_NAMED).map(({ destinationId }) => destinationId);
    this.logger.error(
      `No key opens the settings of ${unreadable.length} of the newest destinations, so nothing is sent to them: ${ids.join(', ')}. ` +
        'Name the key that encrypted them in SVC_ENCRYPTION_KEYS_ACCEPTED, and run the tool rotate-keys with --encryption.',
    );
  }

  find(id: string): Promise<DestinationRuntime | undefined> {
    return this.statements.runOne(FIND, [id]);
  }

  /** @throws ServiceError 'not-found' if there is no destination with this id */
  async read(id: string): Promise<DestinationRuntime> {
    return (await this.find(id)) ?? notFound(id);
  }

  async findSettings(id: string): Promise<DestinationSettings | undefined> {
    return this.settingsOf(await this.find(id));
  }

  list(): Promise<readonly Pick<DestinationRuntime, 'destinationKey' | 'presentation'>[]> {
    return this.statements.run(LIST, []);
  }

  /**
   * Stores what `destinationOf` makes of the current settings, in the open transaction. The queue stays. The next
   * attempt starts at once, with the new settings. Returns whether anything changed.
   */
  async save(id: string, destinationOf: (inForce: DestinationSettings | undefined) => Destination): Promise<boolean> {
    const row: DestinationRuntime | undefined = await this.statements.runOne(LOCK, [id]);
    const inForce = this.settingsOf(row);
    const { kind, settings, presentation, attemptLogLevel } = destinationOf(inForce);
    const isSame = row?.presentation === presentation && row.attemptLogLevel === attemptLogLevel;
    if (isSame && JSON.stringify(inForce) === JSON.stringify({ kind, settings })) return false;
    const sealedSettings = this.secrets.seal(Buffer.from(JSON.stringify(settings)));
    if (typeof row?.ownerSlot === 'number')
      await this.statements.run(COUNT_UNKNOWN_OUTCOME, [row.destinationKey, RECONFIGURED]);
    const configuration = [kind, presentation, attemptLogLevel, sealedSettings];
    await this.statements.run(STORE, [id, ...configuration, settings.maxMessagesInBatch, settings.timeoutSeconds]);
    if (row !== undefined) this.endAttemptAfterCommit(row.destinationKey);
    return true;
  }

  /** Deletes a destination in the open transaction, which ends its delivery. Its queue is deleted afterwards. */
  async remove(id: string): Promise<void> {
    const row: DestinationRuntime | undefined = await this.statements.runOne(LOCK, [id]);
    if (row === undefined) return;
    await this.statements.run(REMOVE, [row.destinationKey]);
    this.endAttemptAfterCommit(row.destinationKey);
    this.unitOfWork.afterCommit(() => {
      void this.background.wake(QUEUE_SWEEP);
    });
  }

  /**
   * Returns the status of destinations from an id on, in order. At most `mostCounted` events of each are counted. The
   * read waits for a slot, like a search: a long queue takes long to count.
   */
  statusFrom(
    id: string,
    limit: number,
    state?: DestinationState,
    mostCounted?: number,
  ): Promise<readonly DestinationStatus[]> {
    const values = [id, limit, state, mostCounted];
    return this.statements.within(new TimeLimit(STATUS_SECONDS, 'The status took too long to read.', true), () =>
      this.statements.run<DestinationStatus>(READ_STATUS, values),
    );
  }

  /** @throws ServiceError 'not-found' if there is no destination with this id */
  async status(id: string): Promise<DestinationStatus> {
    const [status] = await this.statusFrom(id, 1);
    return status?.id === id ? status : notFound(id);
  }

  /** Ends the pause after a failure, so that the next attempt starts now. @returns whether there was a pause */
  async retry(id: string): Promise<boolean> {
    const { destinationKey } = await this.read(id);
    const ended = await this.statements.run(END_PAUSE, [destinationKey]);
    this.worker.endPause(destinationKey);
    return ended.length > 0;
  }

  private settingsOf(row: DestinationRuntime | undefined): DestinationSettings | undefined {
    return row && { kind: row.kind, settings: settingsIn(row, this.secrets) };
  }

  private endAttemptAfterCommit(destinationKey: number): void {
    this.unitOfWork.afterCommit(() => {
      this.worker.abandon(destinationKey);
    });
  }
}

function notFound(id: string): never {
  throw new ServiceError('resource-not-found', `Resource SvcTopicDestination/${id} not found`);
}
