import { randomBytes } from 'node:crypto';
import { type FirstSecrets } from './prepare-server';

/** Start parameters of a server on a new database: generated secrets, and the variables that contain them. */
export interface NewServer {
  readonly secrets: FirstSecrets;
  readonly variables: Readonly<Record<string, string>> & { readonly DATABASE_URL: string };
}

export function newServer(databaseUrl: string): NewServer {
  const secrets = { rootSecret: randomBytes(24).toString('hex'), adminPassword: randomBytes(24).toString('hex') };
  const variables = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl,
    SVC_ROOT_CLIENT_SECRET: secrets.rootSecret,
    SVC_ADMIN_PASSWORD: secrets.adminPassword,
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SVC_LOG_LEVEL: 'warn',
  };
  return { secrets, variables };
}
