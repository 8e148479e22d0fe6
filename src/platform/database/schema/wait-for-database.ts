import { setTimeout as delay } from 'node:timers/promises';
import { onOwnConnection } from '../database-client';
import { databaseErrorToServiceError } from '../database-error';

const PAUSE_MILLISECONDS = 500;

/**
 * Waits until a database that is starting or failing over accepts connections. Returns at once if waiting does not
 * help, for example after a wrong password. Also returns after the time limit. In both cases the migration, which
 * connects next, reports the error.
 */
export async function waitForDatabase(url: string, seconds: number, tell: (line: string) => void): Promise<void> {
  const endsAt = performance.now() + seconds * 1000;
  for (let tries = 1; performance.now() < endsAt; tries++) {
    const error: unknown = await onOwnConnection(url, 'svc-health-server start', () =>
      Promise.resolve(undefined),
    ).catch((thrown: unknown) => thrown);
    if (databaseErrorToServiceError(error)?.kind !== 'busy') return;
    if (tries === 1) tell(`The database takes no connections yet. Trying again for ${seconds} s.`);
    await delay(PAUSE_MILLISECONDS);
  }
}
