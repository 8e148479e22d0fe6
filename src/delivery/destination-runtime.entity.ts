import { Column, Entity, PrimaryColumn, type ValueTransformer } from 'typeorm';
import { type AttemptLogLevel } from './attempt-log-level';

/** Keys and counters stay far below 2^53. */
const asNumber: ValueTransformer = { to: (value: number) => value, from: Number };

/** What went wrong with an attempt; no credentials, header values or answer bodies. */
export interface DeliveryError {
  readonly message: string;
  /** ISO 8601, by the clock of the database. */
  readonly timestamp: string;
}

/** A destination as the workers see it: its settings, who delivers to it now, and its totals. */
@Entity('destination_runtime')
export class DestinationRuntimeEntity {
  @PrimaryColumn('bigint', {
    name: 'destination_key',
    generated: 'identity',
    generatedIdentity: 'ALWAYS',
    transformer: asNumber,
  })
  destinationKey!: number;

  /** Raised by whoever takes the destination over; results of an earlier epoch are discarded. */
  @Column('bigint', { transformer: asNumber, default: 0 })
  epoch!: number;

  @Column('timestamptz', { name: 'lease_until', nullable: true })
  leaseUntil!: Date | null;

  @Column('timestamptz', { name: 'next_attempt_at', default: () => 'clock_timestamp()' })
  nextAttemptAt!: Date;

  @Column('timestamptz', { name: 'started_at', default: () => 'clock_timestamp()' })
  startedAt!: Date;

  /** Number of the first event of the next batch; stands still while a batch is open. */
  @Column('bigint', { name: 'next_event_number', transformer: asNumber, default: 1 })
  nextEventNumber!: number;

  /** No event of the queue lies at or below it, and none can come any more (ADR 0035). */
  @Column('bigint', { name: 'low_water_mark', transformer: asNumber, default: 0 })
  lowWaterMark!: number;

  @Column('bigint', { name: 'delivered_batches', transformer: asNumber, default: 0 })
  deliveredBatches!: number;

  @Column('bigint', { name: 'delivered_events', transformer: asNumber, default: 0 })
  deliveredEvents!: number;

  @Column('bigint', { name: 'failed_batches', transformer: asNumber, default: 0 })
  failedBatches!: number;

  @Column('bigint', { name: 'failed_events', transformer: asNumber, default: 0 })
  failedEvents!: number;

  /** Delivered events by the time from their change on: those within each bound of `LATENCY_BOUNDS_SECONDS`. */
  @Column('bigint', { name: 'latency_counts', array: true, default: [] })
  latencyCounts!: number[];

  /** All those times together. */
  @Column('double precision', { name: 'latency_seconds', default: 0 })
  latencySeconds!: number;

  /** The worker that delivers now; null when nobody does. */
  @Column('integer', { name: 'owner_slot', nullable: true })
  ownerSlot!: number | null;

  @Column('integer', { name: 'fail_streak', default: 0 })
  failStreak!: number;

  @Column('integer', { name: 'max_messages_in_batch' })
  maxMessagesInBatch!: number;

  @Column('integer', { name: 'timeout_seconds' })
  timeoutSeconds!: number;

  /** Whether the latest attempt failed or was slow, or none was made yet: such destinations share a few slots. */
  @Column('boolean', { name: 'is_suspect', default: true })
  isSuspect!: boolean;

  @Column('text', { name: 'destination_id', unique: true })
  destinationId!: string;

  @Column('text')
  kind!: string;

  /** How loud each attempt is told in the log; null where it is not. */
  @Column('text', { name: 'attempt_log_level', nullable: true })
  attemptLogLevel!: AttemptLogLevel | null;

  /** How notifications are rendered: JSON of the renderer, copied into each batch when it is opened. */
  @Column('text')
  presentation!: string;

  /** The kind's settings as sealed JSON: they hold secrets. */
  @Column('bytea', { name: 'sealed_settings' })
  sealedSettings!: Buffer;

  /** Newest first, at most 5. */
  @Column('jsonb', { name: 'last_errors', default: [] })
  lastErrors!: DeliveryError[];
}
