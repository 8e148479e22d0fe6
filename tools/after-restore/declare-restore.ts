import { DatabaseClient } from '../../src/platform/database/database-client';
import { migrate } from '../../src/platform/database/schema/migrate';

/**
 * Migrates the restored database, since the backup may be of an older version. Then creates a new delivery generation,
 * the UUID in notifications by which receivers notice a restore, and holds delivery. The restore also becomes a part
 * of bookmarks, so that the feed of changes refuses those of the time before (ADR 0040).
 * @param tell receives the lines of the migration
 */
export async function declareRestore(databaseUrl: string, tell?: (line: string) => void): Promise<void> {
  await migrate(databaseUrl, tell);
  await run(databaseUrl, 'select renew_delivery_generation(true)');
  await run(
    databaseUrl,
    `insert into server_setup (name, digest) values ('restore', replace(gen_random_uuid()::text, '-', ''))
      on conflict (name) do update set digest = excluded.digest, done_at = now()`,
  );
}

/** Ends the hold, also for a database that was moved to another cluster. */
export const releaseDelivery = (databaseUrl: string): Promise<void> =>
  run(databaseUrl, 'update delivery_generation set is_held = false');

async function run(databaseUrl: string, sql: string): Promise<void> {
  const client = new DatabaseClient({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
