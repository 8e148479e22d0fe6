import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { SecretBox } from '../platform/crypto/secret-box';
import { ServiceError } from '../platform/errors/service-error';
import { type AttemptLogLevel } from './attempt-log-level';
import { type DeliverySettings } from './delivery-kind';
import { COUNT_UNKNOWN_OUTCOME } from './delivery-statements';
import { DeliveryWorker } from './delivery-worker';
import { END_PAUSE, FIND, LIST, LOCK, READ_STATUS, REMOVE, STORE } from './destination-statements';

/** The delivery configuration of a destination; its settings contain secrets. */
export interface DestinationSettings {
  readonly kind: string;
  readonly settings: DeliverySettings;
}

/** A destination as described by its resource. */
export interface Destination extends DestinationSettings {
  /** JSON of the renderer, copied into each batch when it is opened. */
  readonly presentation: string;
  /** The log level of each attempt; null disables attempt logging. */
  readonly attemptLogLevel: AttemptLogLevel | null;
}

/** A destination as stored for the workers. */
export interface DestinationRuntime extends Omit<Destination, 'settings'> {
  readonly destinationKey: number;
  readonly destinationId: string;
  /** The settings as encrypted JSON, since they contain secrets. */
  readonly sealedSettings: Buffer;
  /** Number of the first event of the next batch; unchanged while a batch is open. */
  readonly nextEventNumber: number;
  /** The worker slot of the lease holder; null without one. */
  readonly ownerSlot: number | null;
}

/** The error of an attempt, without credentials, header values or response bodies. */
export interface DeliveryError {
  readonly message: string;
  /** ISO 8601, by the database clock. */
  readonly timestamp: string;
}

/** Held after a restore, until an operator releases delivery. */
export const DESTINATION_STATES = ['active', 'failing', 'held'] as const;
export type DestinationState = (typeof DESTINATION_STATES)[number];

/** The state of a destination, and totals since it was created; the same on every replica. */
export interface DestinationStatus {
  readonly id: string;
  readonly kind: string;
  readonly state: DestinationState;
  readonly startedAt: Date;
  /** Failed attempts since the last delivery. */
  readonly failStreak: number;
  readonly nextAttemptAt: Date;
  /** Newest first. */
  readonly lastErrors: readonly DeliveryError[];
  readonly deliveredBatches: number;
  readonly failedBatches: number;
  readonly deliveredEvents: number;
  readonly failedEvents: number;
  readonly eventsInProcess: number;
  readonly eventsQueued: number;
  /** Seconds since the change of the oldest event that is not delivered; null without any. */
  readonly oldestAge: number | null;
  /**
   * Hour since 1970, events delivered and attempts failed in it: of the latest 24 hours those with any, oldest first.
   */
  readonly hours: readonly (readonly [hour: number, delivered: number, failed: number])[] | null;
  /** Seconds from change to delivery: their sum, and a count for each of `LATENCY_BOUNDS_SECONDS`. */
  readonly latencySeconds: number;
  readonly latencyCounts: readonly number[];
}

/** `$overview` counts no longer queue to its end. */
export const MOST_COUNTED = 1_000;

const RECONFIGURED = 'The outcome is unknown: the destination was changed during the attempt. The batch is sent again.';

/** Creates, changes, deletes and reports destinations. */
@Injectable()
export class Destinations {
  constructor(
    private readonly secrets: SecretBox,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly worker: DeliveryWorker,
  ) {}

  find(id: string): Promise<DestinationRuntime | undefined> {
    return this.statements.runOne(FIND, [id]);
  }

  /** @throws ServiceError 'not-found' */
  async read(id: string): Promise<DestinationRuntime> {
    return (await this.find(id)) ?? notFound(id);
  }

  /** The settings in force. */
  async findSettings(id: string): Promise<DestinationSettings | undefined> {
    return this.settingsOf(await this.find(id));
  }

  /** All destinations, for matching events to them. */
  list(): Promise<readonly Pick<DestinationRuntime, 'destinationKey' | 'presentation'>[]> {
    return this.statements.run(LIST, []);
  }

  /**
   * Stores the result of `destinationOf` for the settings in force, in the open transaction. The queue stays; the next
   * attempt starts at once with the new settings. Returns whether anything changed.
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

  /** Ends delivery and drops the queue, in the open transaction. */
  async remove(id: string): Promise<void> {
    const row: DestinationRuntime | undefined = await this.statements.runOne(LOCK, [id]);
    if (row === undefined) return;
    await this.statements.run(REMOVE, [row.destinationKey]);
    this.endAttemptAfterCommit(row.destinationKey);
  }

  /**
   * Destinations from an id on, in the order of ids; from one consistent snapshot.
   * @param mostCounted counts no more events of a queue; by default all
   */
  statusFrom(
    id: string,
    limit: number,
    state?: DestinationState,
    mostCounted?: number,
  ): Promise<readonly DestinationStatus[]> {
    const values = [id, limit, state, mostCounted];
    return this.statements.run<DestinationStatus & Record<string, unknown>>(READ_STATUS, values);
  }

  /** @throws ServiceError 'not-found' */
  async status(id: string): Promise<DestinationStatus> {
    const [status] = await this.statusFrom(id, 1);
    return status?.id === id ? status : notFound(id);
  }

  /** Ends the pause after a failure: the next attempt starts now. @returns whether there was a pause */
  async retry(id: string): Promise<boolean> {
    const { destinationKey } = await this.read(id);
    const ended = await this.statements.run(END_PAUSE, [destinationKey]);
    this.worker.endPause(destinationKey);
    return ended.length > 0;
  }

  private settingsOf(row: DestinationRuntime | undefined): DestinationSettings | undefined {
    if (row === undefined) return undefined;
    return {
      kind: row.kind,
      settings: JSON.parse(this.secrets.open(row.sealedSettings).toString()) as DeliverySettings,
    };
  }

  private endAttemptAfterCommit(destinationKey: number): void {
    this.unitOfWork.afterCommit(() => {
      this.worker.abandon(destinationKey);
    });
  }
}

function notFound(id: string): never {
  throw new ServiceError('not-found', `Resource SvcTopicDestination/${id} not found`, { code: 'resource-not-found' });
}
