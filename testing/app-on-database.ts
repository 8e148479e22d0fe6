import { type DynamicModule, type Type } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { createApp, listen } from '../src/app.setup';
import { readEnvironmentOfOne } from '../src/platform/config/environment';

/** The base URL of links in answers. `TestApp.send` accepts such links as paths. */
export const BASE_URL = 'http://svc.example';
export const ROOT_SECRET = 'root-secret-for-specs';
export const ADMIN_PASSWORD = 'admin-password-for-specs';

/** Value of the Authorization header (HTTP Basic) for a Client or User. */
export const basicHeader = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** Value of the Authorization header for the Client `root`, who may do everything. */
export const ROOT = basicHeader('root', ROOT_SECRET);

/**
 * The encryption key of all tests in a run. It is the same for all, since databases hold secrets that were encrypted
 * with it.
 */
export const encryptionKey = (): string =>
  process.env.TEST_ENCRYPTION_KEY ?? Buffer.from('encryption-key-of-the-test-kit!!').toString('base64');

export interface AppSettings {
  /** Environment variables that replace the ones that {@link startApp} sets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Modules of your application (docs/how-to/extend.md). */
  readonly modules?: readonly (Type | DynamicModule)[];
}

/** Starts the whole application, on a migrated database and a free port of loopback. */
export async function startApp(
  databaseUrl: string,
  { environment = {}, modules = [] }: AppSettings = {},
): Promise<{ readonly app: NestExpressApplication; readonly url: string }> {
  const settings = readEnvironmentOfOne({
    PORT: '0',
    HOST: '127.0.0.1',
    BASE_URL,
    DATABASE_URL: databaseUrl,
    SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
    SVC_ADMIN_PASSWORD: ADMIN_PASSWORD,
    SVC_ENCRYPTION_KEY: encryptionKey(),
    SVC_LOG_LEVEL: 'error',
    SVC_DATABASE_POOL_SIZE: '8',
    // `close` waits until idle connections of fetch end.
    SVC_KEEP_ALIVE_SECONDS: '1',
    // Specs may use short passwords, which are easier to read.
    SVC_PASSWORD_MIN_LENGTH: '1',
    ...environment,
  });
  const app = await createApp({ environment: settings, databaseUrl, extensions: modules });
  try {
    await listen(app, 0, '127.0.0.1');
    return { app, url: await app.getUrl() };
  } catch (error) {
    await app.close();
    throw error;
  }
}
