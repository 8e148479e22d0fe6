import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The one batch of a destination that is being delivered, kept unchanged until it is. */
@Entity('open_batch')
export class OpenBatchEntity {
  @PrimaryColumn('bigint', { name: 'destination_key' })
  destinationKey!: number;

  @Column('bigint', { name: 'first_number' })
  firstNumber!: number;

  @Column('timestamptz', { name: 'created_at', default: () => 'clock_timestamp()' })
  createdAt!: Date;

  @Column('bigint', { name: 'event_ids', array: true })
  eventIds!: number[];

  @Column('text')
  presentation!: string;
}
