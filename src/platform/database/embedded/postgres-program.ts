import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type PostgresAccount } from './postgres-account';

const run = promisify(execFile);

/**
 * How every program of PostgreSQL is started: messages in English (the launcher reads them), the clock in UTC, none of
 * our secrets in its environment, and a working folder that the account can reach.
 */
export const postgresEnvironment = { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' } } as const;

/**
 * Runs a short-lived program of PostgreSQL to its end and returns what it printed.
 * @throws Error with its error output when it fails or takes longer than two minutes.
 */
export async function runPostgresProgram(
  program: string,
  parameters: readonly string[],
  account: PostgresAccount | undefined,
): Promise<string> {
  const { stdout } = await run(program, parameters, { ...postgresEnvironment, ...account, timeout: 120_000 });
  return stdout;
}
