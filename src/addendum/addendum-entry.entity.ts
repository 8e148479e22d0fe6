import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The place of one addendum among those of its target. */
@Entity('addendum_entry')
export class AddendumEntryEntity {
  @PrimaryColumn('text', { name: 'target_type' })
  targetType!: string;

  @PrimaryColumn('text', { name: 'target_id' })
  targetId!: string;

  /** 1, 2, 3 … in the order of the calls, whatever the clock says. */
  @PrimaryColumn('integer')
  sequence!: number;

  @Column('text', { name: 'addendum_id' })
  addendumId!: string;

  /** Of a History with a snapshot: SHA-256 of what the snapshot is compared by. */
  @Column('bytea', { name: 'snapshot_digest', nullable: true })
  snapshotDigest!: Buffer | null;

  /** SHA-256 of the text of the addendum as it was stored. */
  @Column('bytea', { name: 'text_hash' })
  textHash!: Buffer;

  /** SHA-256 over this row and the link before it (chain/link-hash.ts). */
  @Column('bytea', { name: 'link_hash' })
  linkHash!: Buffer;
}
