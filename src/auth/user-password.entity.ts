import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The argon2id hash of a User's password, parameters included (PHC string). */
@Entity('user_password')
export class UserPasswordEntity {
  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  @Column('text', { name: 'password_hash' })
  passwordHash!: string;
}
