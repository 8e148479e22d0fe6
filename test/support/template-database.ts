import { randomBytes } from 'node:crypto';
import { migrate } from '../../src/platform/database/schema/migrate';
import { databaseUrl, dropDatabase, runStatement } from './databases';
import { preloadDefinitions } from './preload-definitions';

/**
 * Makes a migrated database with HL7's definitions for `cloneDatabase` to copy, and returns its name. The name is new at every run, so that two
 * runs on one TEST_DATABASE_URL do not disturb each other.
 */
export async function makeTemplateDatabase(adminUrl: string): Promise<string> {
  const name = `svc_template_${randomBytes(6).toString('hex')}`;
  await runStatement(adminUrl, `create database ${name}`);
  try {
    await migrate(databaseUrl(adminUrl, name));
    await preloadDefinitions(databaseUrl(adminUrl, name));
  } catch (error) {
    await dropDatabase(adminUrl, name);
    throw error;
  }
  return name;
}
