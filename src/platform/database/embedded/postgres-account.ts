import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { StartError } from '../../errors/start-error';

const run = promisify(execFile);

/** An account, in the form of the options of `spawn`. */
export interface PostgresAccount {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root. `process.getuid` does not exist on Windows. */
export const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * Finds the account under which root starts PostgreSQL.
 * @throws StartError if the machine has neither `postgres` nor `nobody`
 */
export async function findUnprivilegedAccount(): Promise<PostgresAccount> {
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: await readId('-u', name), gid: await readId('-g', name) };
    } catch {
      continue; // `id` fails for an unknown account
    }
  }
  throw new StartError(
    'PostgreSQL does not run as root, and there is no account "postgres" or "nobody" to run it as. ' +
      'Start the server as an ordinary user, or set DATABASE_URL.',
  );
}

/** Whether an account may enter a folder and all folders above it. */
export const canReach = (account: PostgresAccount, folder: string): Promise<boolean> =>
  run('test', ['-x', folder], { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  );

const readId = async (flag: '-u' | '-g', name: string): Promise<number> =>
  Number((await run('id', [flag, name])).stdout);
