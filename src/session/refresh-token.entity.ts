import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A refresh token, known by its SHA-256 alone. All that descend from one password exchange are a family. */
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

  @Column('text', { name: 'user_id' })
  userId!: string;

  @Column('text', { name: 'client_id' })
  clientId!: string;
}
