import { Injectable } from '@nestjs/common';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { ServiceError } from '../platform/errors/service-error';
import { type AttemptLogLevel } from './attempt-log-level';
import { type DeliverySettings } from './delivery-kind';

export interface DestinationConfiguration {
  readonly kind: string;
  /** How notifications are rendered: JSON of the renderer, copied into each batch when it is opened. */
  readonly presentation: string;
  /** The level at which each attempt is logged; null where none is. */
  readonly attemptLogLevel: AttemptLogLevel | null;
  /** The kind's settings as sealed JSON: they hold secrets. */
  readonly sealedSettings: Buffer;
}

export interface DestinationRuntime extends DestinationConfiguration {
  readonly destinationKey: number;
  readonly destinationId: string;
  /** Number of the first event of the next batch; stands still while a batch is open. */
  readonly nextEventNumber: number;
  /** The worker that delivers now; null when nobody does. */
  readonly ownerSlot: number | null;
}

const FIND: Statement = {
  name: 'delivery-find-destination',
  text: `select destination_key as "destinationKey", destination_id as "destinationId", kind, presentation,
      attempt_log_level as "attemptLogLevel", sealed_settings as "sealedSettings",
      next_event_number as "nextEventNumber", owner_slot as "ownerSlot"
    from destination_runtime where destination_id = $1`,
};

const LOCK: Statement = { name: 'delivery-lock-destination', text: `${FIND.text} for update` };

const LIST: Statement = {
  name: 'delivery-list-destinations',
  text: 'select destination_key as "destinationKey", presentation from destination_runtime',
};

/** A change raises the epoch: results of attempts under an earlier one are discarded. */
const STORE: Statement = {
  name: 'delivery-store-destination',
  text: `insert into destination_runtime as r (destination_id, kind, presentation, attempt_log_level, sealed_settings,
      max_messages_in_batch, timeout_seconds)
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (destination_id) do update set kind = $2, presentation = $3, attempt_log_level = $4, sealed_settings = $5,
      max_messages_in_batch = $6, timeout_seconds = $7, epoch = r.epoch + 1, owner_slot = null, lease_until = null,
      fail_streak = 0, next_attempt_at = clock_timestamp(), started_at = clock_timestamp()`,
};

const REMOVE: Statement = {
  name: 'delivery-remove-destination',
  text: `with runtime as (delete from destination_runtime where destination_key = $1),
      batch as (delete from open_batch where destination_key = $1)
    delete from outbox_event where destination_key = $1`,
};

/** The cold paths of the delivery tables: what a change of a destination does to them. */
@Injectable()
export class DestinationRuntimes {
  constructor(private readonly statements: Statements) {}

  find(destinationId: string): Promise<DestinationRuntime | undefined> {
    return this.statements.runOne(FIND, [destinationId]);
  }

  /** @throws ServiceError 'not-found' */
  async read(destinationId: string): Promise<DestinationRuntime> {
    const found = await this.find(destinationId);
    if (found === undefined)
      throw new ServiceError('not-found', `Resource SvcTopicDestination/${destinationId} not found`);
    return found;
  }

  /** Holds the row until the transaction ends: no worker claims or settles meanwhile. */
  lock(destinationId: string): Promise<DestinationRuntime | undefined> {
    return this.statements.runOne(LOCK, [destinationId]);
  }

  list(): Promise<Pick<DestinationRuntime, 'destinationKey' | 'presentation'>[]> {
    return this.statements.run(LIST, []);
  }

  /** Creates the destination, or takes it from its lease holder and makes it due at once, under its new configuration. */
  async store(
    destinationId: string,
    { kind, presentation, attemptLogLevel, sealedSettings }: DestinationConfiguration,
    { maxMessagesInBatch, timeoutSeconds }: DeliverySettings,
  ): Promise<void> {
    const configuration = [kind, presentation, attemptLogLevel, sealedSettings, maxMessagesInBatch, timeoutSeconds];
    await this.statements.run(STORE, [destinationId, ...configuration]);
  }

  /** For a locked row, so the order does not matter: workers hold the row while they change the other two tables. */
  async remove(destinationKey: number): Promise<void> {
    await this.statements.run(REMOVE, [destinationKey]);
  }
}
