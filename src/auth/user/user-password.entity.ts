import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The hash of a User's password, with its algorithm and parameters. */
@Entity('user_password')
export class UserPasswordEntity {
  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  /** A new id for each new password. Hashing the same password again keeps the id. */
  @Column('uuid', { name: 'password_id' })
  passwordId!: string;

  @Column('text', { name: 'password_hash' })
  passwordHash!: string;
}
