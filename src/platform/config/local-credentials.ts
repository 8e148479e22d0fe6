import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../errors/start-error';
import { isSystemError } from '../errors/system-error';
import { type Environment } from './environment';

interface LocalCredentials {
  readonly rootClientSecret: string;
  readonly adminPassword: string;
  /** The encryption key in base64. */
  readonly encryptionKey: string;
}

/**
 * Fills missing settings with credentials that are kept in the data directory. The first start generates these
 * credentials and prints them once.
 * @param isNew whether the database has no secrets yet
 * @throws StartError if the credentials of an existing database are missing: generated ones would not be those of the
 * database
 */
export async function completeCredentials(
  environment: Environment,
  tell: (line: string) => void,
  isNew: () => Promise<boolean>,
): Promise<Environment> {
  const path = join(environment.dataDirectory, 'credentials.json');
  const known = await readCredentials(path);
  if (known === undefined && !hasAllCredentials(environment) && !(await isNew()))
    throw new StartError(
      `${path} is missing, and its encryption key is that of this database: restore the file, or set SVC_ENCRYPTION_KEY, SVC_ROOT_CLIENT_SECRET and SVC_ADMIN_PASSWORD to its values.`,
    );
  const credentials = known ?? newCredentials(environment);
  if (known === undefined) {
    await writeCredentials(path, credentials);
    // A secret from the environment is not printed: the operator already has it, and other people may read the output
    // as a log.
    if (environment.rootClientSecret === undefined) tell(`Client root, secret:   ${credentials.rootClientSecret}`);
    if (environment.adminPassword === undefined) tell(`User admin, password:  ${credentials.adminPassword}`);
    tell(`Credentials are kept in ${path}. Generated ones are shown this once.`);
  } else {
    tell(`Credentials of Client root and User admin: ${path}`);
  }
  return completed(environment, credentials);
}

/** Fills missing settings with the credentials of the data directory, if there are any. Changes nothing. */
export async function withKeptCredentials(environment: Environment): Promise<Environment> {
  if (environment.databaseUrl !== undefined) return environment;
  const known = await readCredentials(join(environment.dataDirectory, 'credentials.json'));
  return known === undefined ? environment : completed(environment, known);
}

const hasAllCredentials = ({ rootClientSecret, adminPassword, encryptionKey }: Environment): boolean =>
  rootClientSecret !== undefined && adminPassword !== undefined && encryptionKey !== undefined;

const completed = (environment: Environment, credentials: LocalCredentials): Environment =>
  Object.freeze({
    ...environment,
    rootClientSecret: environment.rootClientSecret ?? credentials.rootClientSecret,
    adminPassword: environment.adminPassword ?? credentials.adminPassword,
    encryptionKey: environment.encryptionKey ?? Buffer.from(credentials.encryptionKey, 'base64'),
  });

function newCredentials({ rootClientSecret, adminPassword, encryptionKey }: Environment): LocalCredentials {
  return {
    rootClientSecret: rootClientSecret ?? randomBytes(24).toString('base64url'),
    adminPassword: adminPassword ?? randomBytes(12).toString('base64url'),
    encryptionKey: (encryptionKey ?? randomBytes(32)).toString('base64'),
  };
}

async function readCredentials(path: string): Promise<LocalCredentials | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as LocalCredentials;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw new StartError(
      `${path} cannot be read. Without its encryption key the stored keys are lost: restore the file.`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Writes the credentials to a temporary file and renames it, so that no partial file remains if the process is killed.
 */
async function writeCredentials(path: string, credentials: LocalCredentials): Promise<void> {
  const unfinished = `${path}.new`;
  await writeFile(unfinished, `${JSON.stringify(credentials, undefined, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, path);
}
