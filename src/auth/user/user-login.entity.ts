import { Entity, PrimaryColumn } from 'typeorm';

/** A name that a User may log in with: the `userName` as written, or the `email` in lower case. */
@Entity('user_login')
export class UserLoginEntity {
  @PrimaryColumn('text')
  kind!: 'userName' | 'email';

  @PrimaryColumn('text')
  login!: string;

  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;
}
