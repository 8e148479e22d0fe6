import { setTimeout as delay } from 'node:timers/promises';
import { type Client } from 'pg';

const BUSY = `select count(*)::integer as busy from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'`;

const LOOK_MILLISECONDS = 20;
/** The time without any statement after which the database counts as quiet. */
const STILL_SECONDS = 1.5;
const GIVE_UP_SECONDS = 20;

/**
 * Seconds from now until the server's last statement. A statement that appears in only one sample is ignored: the
 * server itself polls now and then.
 */
export async function secondsUntilQuiet(database: Client): Promise<number> {
  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / 1_000;
  let [lastBusy, wasBusy] = [0, true];
  while (elapsed() - lastBusy < STILL_SECONDS && elapsed() < GIVE_UP_SECONDS) {
    const isBusy = ((await database.query<{ busy: number }>(BUSY)).rows[0]?.busy ?? 0) > 0;
    if (isBusy && wasBusy) lastBusy = elapsed();
    wasBusy = isBusy;
    await delay(LOOK_MILLISECONDS);
  }
  return lastBusy;
}
