import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type PostgresAccount } from './postgres-account';

const run = promisify(execFile);

/**
 * For all programs of PostgreSQL: messages in English (this server reads them), UTC, no secrets of this server in the
 * environment, and a working folder that the account can open.
 */
export const postgresEnvironment = { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' } } as const;

/**
 * Runs a short-lived program of PostgreSQL and returns its output.
 * @throws Error with the error output of the program, if it fails or takes longer than two minutes
 */
export async function runPostgresProgram(
  program: string,
  parameters: readonly string[],
  account: PostgresAccount | undefined,
): Promise<string> {
  const { stdout } = await run(program, parameters, { ...postgresEnvironment, ...account, timeout: 120_000 });
  return stdout;
}

/** The first error in the output of a program, for example that of a full disk. */
export const firstErrorIn = (output: string): string | undefined => /(?:FATAL|error): +(.+)/.exec(output)?.[1];
