import { type ClientBase } from 'pg';
import { type SecretBox } from '../../platform/crypto/secret-box';
import { type Statement } from '../../platform/database/statement';
import { StartError } from '../../platform/errors/start-error';

export const FIND_SIGNING_KEY: Statement = {
  name: 'signing-key-find',
  text: `select kid, algorithm, wrapped_private_key from signing_key
    where signs_from <= clock_timestamp() order by signs_from desc, kid limit 1`,
};

/** The key that signs, and the keys that sign later. */
export const FIND_USED_KEYS: Statement = {
  name: 'signing-key-find-used',
  text: `select wrapped_private_key from signing_key where signs_from >=
    (select max(signs_from) from signing_key where signs_from <= clock_timestamp())`,
};

/** The encrypted part of a row that {@link FIND_USED_KEYS} returns. */
interface WrappedKey {
  readonly wrapped_private_key: Buffer;
}

/** @throws StartError when the encryption key cannot open a signing key: JWTs and deliveries would fail */
export function assertOpenable(secrets: SecretBox, rows: readonly WrappedKey[]): void {
  try {
    for (const row of rows) secrets.open(row.wrapped_private_key);
  } catch (error) {
    throw new StartError(
      'SVC_ENCRYPTION_KEY is not the key that encrypted the secrets of this database: set that key, or name it in SVC_ENCRYPTION_KEYS_ACCEPTED.',
      { cause: error },
    );
  }
}

/**
 * Does the check of {@link assertOpenable} before the migrations. All releases have the same columns; a new database
 * has no table yet.
 */
export async function assertStoredKeyOpenable(secrets: SecretBox, client: ClientBase): Promise<void> {
  assertOpenable(secrets, await findStoredKeys(client));
}

/** Whether the database has a signing key, which is encrypted with the key of an earlier start. */
export const hasStoredKey = async (client: ClientBase): Promise<boolean> => (await findStoredKeys(client)).length > 0;

async function findStoredKeys(client: ClientBase): Promise<readonly WrappedKey[]> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    `select to_regclass('signing_key') is not null as exists`,
  );
  return tables[0]?.exists === true ? (await client.query<WrappedKey>(FIND_USED_KEYS.text)).rows : [];
}
