import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The key of a User's one-time codes, sealed with SVC_ENCRYPTION_KEY. */
@Entity('user_two_factor')
export class UserTwoFactorEntity {
  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  @Column('bytea', { name: 'sealed_key' })
  sealedKey!: Buffer;

  /** The time step of the code that was accepted last: each is accepted once (RFC 6238, section 5.2). */
  @Column('integer', { name: 'last_step', nullable: true })
  lastStep!: number | null;
}
