import { readFileSync } from 'node:fs';
import { StartError } from '../errors/start-error';
import { systemCodeOf } from '../errors/system-error';

/** Settings whose value may be in the file that `<name>_FILE` names, as Docker and Kubernetes pass secrets. */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'SVC_DATABASE_DIRECT_URL',
  'SVC_ROOT_CLIENT_SECRET',
  'SVC_ADMIN_PASSWORD',
  'SVC_ENCRYPTION_KEY',
  'SVC_ENCRYPTION_KEYS_ACCEPTED',
] as const;

export type SecretSetting = (typeof SECRET_SETTINGS)[number];

/**
 * Returns the value of a variable; undefined if it is unset or empty. Shells and compose files set an unset variable to
 * an empty text.
 */
export function settingIn(variables: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = variables[name]?.trim();
  return value === '' ? undefined : value;
}

/**
 * Reads a secret from its variable or its file. White space around it is removed, since editors end files with a line
 * feed. The file of accepted keys may be empty: it has keys only while the key is rotated, and the variable that names
 * it cannot be set after the start.
 * @throws StartError if variable and file are both set, or the file is unreadable or empty. The message never contains
 * the secret
 */
export function secretIn(variables: NodeJS.ProcessEnv, name: SecretSetting): string | undefined {
  const value = settingIn(variables, name);
  const path = settingIn(variables, `${name}_FILE`);
  if (path === undefined) return value;
  if (value !== undefined) throw new StartError(`${name} and ${name}_FILE are both set: keep one of them`);
  const text = textIn(path, name);
  if (text !== '') return text;
  if (name === 'SVC_ENCRYPTION_KEYS_ACCEPTED') return undefined;
  throw new StartError(`${name}_FILE names an empty file: ${path}`);
}

/** Returns the database URL for tools: the direct one, since `DATABASE_URL` may lead through a pooler. */
export const directUrlIn = (variables: NodeJS.ProcessEnv): string | undefined =>
  secretIn(variables, 'SVC_DATABASE_DIRECT_URL') ?? secretIn(variables, 'DATABASE_URL');

function textIn(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const code = systemCodeOf(error) ?? 'unknown';
    throw new StartError(`${name}_FILE names a file that cannot be read: ${path} (${code})`, { cause: error });
  }
}
