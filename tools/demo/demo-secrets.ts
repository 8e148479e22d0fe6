import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { secretIn } from '../../src/platform/config/secret-settings';
import { stringAt } from './value-at';

export interface RootSecret {
  readonly value: string;
  /** A shell expression that yields the secret. */
  readonly expression: string;
}

/**
 * Finds the secret of the Client `root`: in the environment, in the file named there, or where the server with the
 * embedded database stores it.
 */
export function findRootSecret(environment: NodeJS.ProcessEnv): RootSecret | undefined {
  const value = secretIn(environment, 'SVC_ROOT_CLIENT_SECRET');
  const { SVC_ROOT_CLIENT_SECRET_FILE: file } = environment;
  if (value !== undefined)
    return { value, expression: file ? '"$(cat "$SVC_ROOT_CLIENT_SECRET_FILE")"' : '"$SVC_ROOT_CLIENT_SECRET"' };
  const path = resolve(environment.DATA_DIR ?? 'data', 'credentials.json');
  try {
    return {
      value: stringAt(JSON.parse(readFileSync(path, 'utf8')), 'rootClientSecret'),
      expression: `"$(node -p 'require(process.argv[1]).rootClientSecret' '${path}')"`,
    };
  } catch {
    return undefined;
  }
}

/** Generates a secret for this run, so that the demo leaves no account with a public password. */
export function newSecret(): string {
  return randomBytes(24).toString('hex');
}
