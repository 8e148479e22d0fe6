import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type BatchOrigin } from './notification-renderer';

/** The one batch of a destination that is being delivered, kept unchanged until it is. Its arrays run side by side. */
@Entity('open_batch')
export class OpenBatchEntity {
  @PrimaryColumn('bigint', { name: 'destination_key' })
  destinationKey!: number;

  @Column('bigint', { name: 'first_number' })
  firstNumber!: number;

  /** Of a batch that is sent again: when it was opened first. */
  @Column('timestamptz', { name: 'created_at', default: () => 'clock_timestamp()' })
  createdAt!: Date;

  /** Whether its events were delivered before, under the same numbers. */
  @Column('boolean', { name: 'is_replay' })
  isReplay!: boolean;

  @Column('text')
  presentation!: string;

  /** Null for a batch of a server that did not fix it. */
  @Column('jsonb', { nullable: true })
  origin!: BatchOrigin | null;

  /** The low-water mark of the queue once the batch is delivered. */
  @Column('bigint', { name: 'low_water_mark', default: 0 })
  lowWaterMark!: number;

  @Column('bigint', { name: 'event_ids', array: true })
  eventIds!: number[];

  @Column('timestamptz', { name: 'recorded_at', array: true })
  recordedAt!: Date[];

  @Column('integer', { name: 'payload_bytes', array: true })
  payloadBytes!: number[];

  @Column('integer', { array: true })
  versions!: number[];

  @Column('text', { name: 'resource_types', array: true })
  resourceTypes!: string[];

  @Column('text', { name: 'resource_ids', array: true })
  resourceIds!: string[];

  @Column('text', { array: true })
  interactions!: string[];

  @Column('text', { array: true })
  methods!: string[];

  @Column('boolean', { array: true })
  undecided!: boolean[];

  @Column('text', { name: 'correlation_ids', array: true })
  correlationIds!: (string | null)[];
}
