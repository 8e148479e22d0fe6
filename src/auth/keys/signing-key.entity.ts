import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** A key pair for JWTs, shared by all replicas; the private key is wrapped with SVC_ENCRYPTION_KEY. */
@Entity('signing_key')
export class SigningKeyEntity {
  @PrimaryColumn('text')
  kid!: string;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** Published before that, it signs from then on, until a younger one does. */
  @Column('timestamptz', { name: 'signs_from' })
  signsFrom!: Date;

  @Column('text')
  algorithm!: 'RS256';

  @Column('text', { name: 'public_key' })
  publicKey!: string;

  @Column('bytea', { name: 'wrapped_private_key' })
  wrappedPrivateKey!: Buffer;
}
