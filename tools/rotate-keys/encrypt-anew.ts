import { type Client } from 'pg';
import { type SecretBox } from '../../src/platform/crypto/secret-box';
import { DatabaseClient } from '../../src/platform/database/database-client';
import { watchWaits } from '../../src/platform/database/schema/other-sessions';

interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key of the table. */
  readonly key: string;
  /** A value that sorts before every key. */
  readonly from: string;
}

/**
 * The columns with sealed values, all of them. The signing keys are last: a start tries its encryption key on the
 * signing key only. So after an interrupted run, a start without the earlier key is refused.
 */
const COLUMNS: readonly SealedColumn[] = [
  { table: 'destination_runtime', column: 'sealed_settings', key: 'destination_key', from: '0' },
  { table: 'user_two_factor', column: 'sealed_key', key: 'user_id', from: '' },
  { table: 'signing_key', column: 'wrapped_private_key', key: 'kid', from: '' },
];

/** The number of rows that one transaction locks. Delivery workers and logins wait for that transaction. */
const CHUNK_ROWS = 100;

export interface Encrypted {
  readonly all: number;
  /** Number of values that were sealed with another key. */
  readonly anew: number;
}

/**
 * Seals each secret of the database with the current key. A chunk is one transaction, so a killed run leaves complete
 * values, and the next run does the rest.
 * @param tell receives a line if a row is locked by other transactions for long
 * @throws Error that names the row of a value that no accepted key opens
 */
export async function encryptAnew(url: string, box: SecretBox, tell: (line: string) => void): Promise<Encrypted> {
  const client = new DatabaseClient({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const endWatch = watchWaits(url, rows[0]?.pid ?? 0, (sessions) => {
    tell(`rotate-keys waits for other transactions of the database: ${sessions}.`);
  });
  try {
    let [all, anew] = [0, 0];
    for (const column of COLUMNS) {
      for (let after: string | undefined = column.from; after !== undefined;) {
        const chunk = await encryptChunk(client, column, after, box);
        after = chunk.last;
        all += chunk.all;
        anew += chunk.anew;
      }
    }
    return { all, anew };
  } finally {
    endWatch();
    await client.end();
  }
}

/**
 * Encrypts up to {@link CHUNK_ROWS} rows whose keys come after `after`.
 * @returns `last`: the last of these keys, or undefined if no more rows follow
 */
async function encryptChunk(
  client: Client,
  { table, column, key }: SealedColumn,
  after: string,
  box: SecretBox,
): Promise<Encrypted & { readonly last: string | undefined }> {
  await client.query('begin');
  const { rows } = await client.query<{ key: string; sealed: Buffer }>(
    `select ${key} as key, ${column} as sealed from ${table} where ${key} > $1 order by ${key} limit ${CHUNK_ROWS} for update`,
    [after],
  );
  const others = rows.filter(({ sealed }) => !box.isCurrent(sealed));
  for (const { key: id, sealed } of others) {
    try {
      await client.query(`update ${table} set ${column} = $2 where ${key} = $1`, [id, box.seal(box.open(sealed))]);
    } catch (error) {
      throw new Error(`${table} ${id}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
  await client.query('commit');
  return { all: rows.length, anew: others.length, last: rows.at(CHUNK_ROWS - 1)?.key };
}
