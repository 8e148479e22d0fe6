import { randomBytes } from 'node:crypto';
import { databaseUrl, dropDatabase, runStatement } from './template-database';

export interface ClonedDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Makes a database of its own for a test file: a copy of the migrated template of this run.
 * @throws Error when jest runs without its global setup.
 */
export async function cloneDatabase(): Promise<ClonedDatabase> {
  const { TEST_ADMIN_URL: adminUrl, TEST_TEMPLATE: template } = process.env;
  if (adminUrl === undefined || template === undefined) throw new Error('Run jest with test/support/global-setup.ts.');
  const name = `svc_test_${randomBytes(6).toString('hex')}`;
  // No strategy is named: PostgreSQL 14 knows none, and file_copy is not faster here (about 0.1 s each).
  await runStatement(adminUrl, `create database ${name} template ${template}`);
  return { url: databaseUrl(adminUrl, name), drop: () => dropDatabase(adminUrl, name) };
}
