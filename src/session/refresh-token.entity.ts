import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A refresh token, known by its SHA-256 alone. All that descend from one exchange are a family. */
@Entity('refresh_token')
export class RefreshTokenEntity {
  @PrimaryColumn('bytea', { name: 'token_hash' })
  tokenHash!: Buffer;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column('timestamptz', { name: 'consumed_at', nullable: true })
  consumedAt!: Date | null;

  @Column('uuid', { name: 'family_id' })
  familyId!: string;

  @Column('text', { name: 'session_id' })
  sessionId!: string;

  @Column('text', { name: 'successor_session_id', nullable: true })
  successorSessionId!: string | null;

  @Column('text', { name: 'user_id', nullable: true })
  userId!: string | null;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('text', { name: 'grant_type' })
  grantType!: string;

  @Column('text', { nullable: true })
  scope!: string | null;

  @Column('text', { nullable: true })
  audience!: string | null;
}
