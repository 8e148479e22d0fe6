import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** One row for each time that a document went to another ward. */
@Entity({ name: 'acme_ward_hand_over' })
export class HandOverRow {
  @PrimaryGeneratedColumn({ type: 'bigint' }) id!: string;
  @Column({ name: 'document_id', type: 'text' }) documentId!: string;
  @Column({ type: 'text' }) ward!: string;
  @Column({ name: 'handed_over_at', type: 'timestamptz', default: () => 'now()' }) handedOverAt!: Date;
}
