import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type BatchOrigin } from './notification-renderer';

/** An event that waits for delivery to one destination; it points to a version in the immutable history. */
@Entity('outbox_event')
export class OutboxEventEntity {
  @PrimaryColumn('bigint', { name: 'destination_key' })
  destinationKey!: number;

  @PrimaryColumn('bigint', { name: 'event_id', default: () => 'next_event_id()' })
  eventId!: number;

  @Column('timestamptz', { name: 'recorded_at', default: () => 'clock_timestamp()' })
  recordedAt!: Date;

  /** Set where the event is sent again: the number that it was delivered under. */
  @Column('bigint', { name: 'replayed_number', nullable: true })
  replayedNumber!: number | null;

  /** Set with it: when the batch was opened that it was delivered in. */
  @Column('timestamptz', { name: 'replayed_batch_at', nullable: true })
  replayedBatchAt!: Date | null;

  /** Set with it: what that batch was rendered with. */
  @Column('jsonb', { name: 'replayed_origin', nullable: true })
  replayedOrigin!: BatchOrigin | null;

  @Column('integer', { name: 'payload_bytes' })
  payloadBytes!: number;

  @Column('integer')
  version!: number;

  /** Whether a criterion could not be evaluated, so that the change counted as a match. */
  @Column('boolean', { name: 'is_undecided', default: false })
  isUndecided!: boolean;

  @Column('text', { name: 'resource_type' })
  resourceType!: string;

  @Column('text', { name: 'resource_id' })
  resourceId!: string;

  @Column('text')
  interaction!: string;

  @Column('text')
  method!: string;

  /** What the request that made it asked to have delivered with it. */
  @Column('text', { name: 'correlation_id', nullable: true })
  correlationId!: string | null;
}
