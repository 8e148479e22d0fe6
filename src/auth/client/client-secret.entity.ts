import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The SHA-256 of a Client's secret: generated secrets are long, so a fast hash is enough. */
@Entity('client_secret')
export class ClientSecretEntity {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @Column('bytea', { name: 'secret_hash' })
  secretHash!: Buffer;
}
