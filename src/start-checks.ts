import { type ClientBase } from 'pg';
import { readAddendumTypesFile } from './addendum/types/read-addendum-types';
import { assertStoredKeyOpenable, hasStoredKey } from './auth/keys/signing-key-check';
import { type Environment, EnvironmentError } from './platform/config/environment';
import { SecretBox } from './platform/crypto/secret-box';
import { onOwnConnection } from './platform/database/database-client';

/** @throws EnvironmentError if an external database is given without an encryption key */
export function assertEncryptionKeySet({ databaseUrl, encryptionKey }: Environment): void {
  if (databaseUrl === undefined || encryptionKey !== undefined) return;
  throw new EnvironmentError([
    'SVC_ENCRYPTION_KEY must be set with DATABASE_URL: 32 bytes in base64 (openssl rand -base64 32)',
  ]);
}

/**
 * Checks the settings that refer to something stored, before the first migration, after which an older release could
 * not start.
 * @returns the check that needs the database
 * @throws StartError with one sentence
 */
export async function checkStart(environment: Environment): Promise<(client: ClientBase) => Promise<void>> {
  if (environment.addendumTypes !== undefined) await readAddendumTypesFile(environment.addendumTypes);
  return async (client) => {
    if (environment.encryptionKey !== undefined) await assertStoredKeyOpenable(new SecretBox(environment), client);
  };
}

/**
 * Whether the database has no secrets yet. It may have tables: a start may have been killed before it stored a secret.
 */
export const isNewDatabase = (url: string): Promise<boolean> =>
  onOwnConnection(url, 'svc-health-server start', async (client) => !(await hasStoredKey(client)));
