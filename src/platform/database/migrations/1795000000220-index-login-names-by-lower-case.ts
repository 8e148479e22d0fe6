import { type MigrationInterface, type QueryRunner } from 'typeorm';

/** A new email must not be another User's `userName`, whose case is kept: it is found by its lower case. */
export class IndexLoginNamesByLowerCase1795000000220 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create index user_login_folded_idx on user_login (lower(login)) where kind = 'userName'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index user_login_folded_idx');
  }
}
