import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An access token, known by its SHA-256 alone. */
@Entity('session_token')
export class SessionTokenEntity {
  @PrimaryColumn('bytea', { name: 'token_hash' })
  tokenHash!: Buffer;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  /** When the Session is over: the end of the access token or, later, of its refresh token; null where that has none. */
  @Column('timestamptz', { name: 'ends_at', nullable: true })
  endsAt!: Date | null;

  @Column('timestamptz', { name: 'closed_at', nullable: true })
  closedAt!: Date | null;

  @Column('boolean', { name: 'is_unused' })
  isUnused!: boolean;

  @Column('text', { name: 'session_id' })
  sessionId!: string;

  @Column('text', { name: 'user_id', nullable: true })
  userId!: string | null;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('text', { nullable: true })
  kid!: string | null;
}
