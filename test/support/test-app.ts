import { type NestExpressApplication } from '@nestjs/platform-express';
import { Client } from 'pg';
import { type AppOptions } from '../../src/app.module';
import { createApp, listen } from '../../src/app.setup';
import { readEnvironment } from '../../src/platform/config/environment';
import { migrationSetsOf } from '../../src/platform/database/schema/brings-migrations';
import { migrate } from '../../src/platform/database/schema/migrate';
import { Clock } from '../../src/platform/time/clock';
import { cloneDatabase } from './clone-database';
import { HttpClient, type Received, type Sent } from './http-client';

export type { Received, Sent } from './http-client';

/** What answers link to; specs send such links with {@link TestApp.send} as they are. */
export const BASE_URL = 'http://svc.example';
export const ROOT_SECRET = 'root-secret-for-specs';
export const ADMIN_PASSWORD = 'admin-password-for-specs';

/** One for the run: databases hold what was sealed by it. */
export const encryptionKey = (): string => process.env.TEST_ENCRYPTION_KEY ?? '';

export const basicHeader = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** Credentials of the Client `root`, who may do everything. */
export const ROOT = basicHeader('root', ROOT_SECRET);

/** The whole application on a real PostgreSQL and a free port of loopback, with what specs need around it. */
export interface TestApp {
  /** For specs that reach into the server: it has the classes that the spec imports. */
  readonly app: NestExpressApplication;
  /** The address that it really listens on. */
  readonly url: string;
  readonly databaseUrl: string;
  send(method: string, path: string, sent?: Sent): Promise<Received>;
  get(path: string, sent?: Sent): Promise<Received>;
  put(path: string, body: object | string, sent?: Sent): Promise<Received>;
  post(path: string, body: object | string, sent?: Sent): Promise<Received>;
  delete(path: string, sent?: Sent): Promise<Received>;
  /** A connection to the database, which {@link close} ends. */
  connect(): Promise<Client>;
  /** Lets the server believe that it is another time while `work` runs. */
  atTime<T>(now: () => Date, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface TestAppOptions extends Pick<AppOptions, 'extensions'> {
  /** Settings that differ from the specs' own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A database that another app already uses; by default a clone of the template that {@link TestApp.close} drops. */
  readonly databaseUrl?: string;
}

/** Settings that bear on what the first start leaves in a database. */
const AT_FIRST_START = ['SVC_AUDIT', 'SVC_TRIAL_POLICY', 'SVC_ENCRYPTION_KEY'];

export async function startTestApp({ environment = {}, ...options }: TestAppOptions = {}): Promise<TestApp> {
  const database =
    options.databaseUrl === undefined
      ? await cloneDatabase(AT_FIRST_START.some((name) => name in environment) ? 'new' : 'started')
      : { url: options.databaseUrl, drop: () => Promise.resolve() };
  const { extensions = [] } = options;
  const sets = migrationSetsOf(extensions);
  if (sets.length > 0) await migrate(database.url, undefined, sets); // the template has no tables of modules of other teams
  const app = await createApp({
    environment: settingsOf(database.url, environment),
    databaseUrl: database.url,
    extensions,
  });
  const close = async (): Promise<void> => {
    await app.close();
    await database.drop();
  };
  try {
    await listen(app, 0, '127.0.0.1');
  } catch (error) {
    await close();
    throw error;
  }
  return worldOf(app, await app.getUrl(), database.url, close);
}

const settingsOf = (url: string, environment: Readonly<Record<string, string>>): AppOptions['environment'] =>
  readEnvironment({
    PORT: '0',
    HOST: '127.0.0.1',
    BASE_URL,
    DATABASE_URL: url,
    SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
    SVC_ADMIN_PASSWORD: ADMIN_PASSWORD,
    SVC_ENCRYPTION_KEY: encryptionKey(),
    SVC_LOG_LEVEL: 'error',
    SVC_DATABASE_POOL_SIZE: '8',
    // `close` waits for connections that fetch keeps.
    SVC_KEEP_ALIVE_SECONDS: '1',
    // Short ones are easier to read in specs.
    SVC_PASSWORD_MIN_LENGTH: '1',
    ...environment,
  });

function worldOf(app: NestExpressApplication, url: string, databaseUrl: string, close: () => Promise<void>): TestApp {
  const http = new HttpClient();
  const clients: Client[] = [];
  const send = (method: string, path: string, sent: Sent = {}): Promise<Received> =>
    http.send(method, `${url}${pathOf(path)}`, { authorization: ROOT, ...sent });
  return {
    app,
    url,
    databaseUrl,
    send,
    get: (path, sent) => send('GET', path, sent),
    put: (path, body, sent) => send('PUT', path, { ...sent, body }),
    post: (path, body, sent) => send('POST', path, { ...sent, body }),
    delete: (path, sent) => send('DELETE', path, sent),
    connect: async () => {
      const client = new Client({ connectionString: databaseUrl });
      await client.connect();
      clients.push(client);
      return client;
    },
    atTime: async (now, work) => {
      const clock = Object.assign(app.get(Clock), { now });
      return work().finally(() => Reflect.deleteProperty(clock, 'now'));
    },
    close: async () => {
      http.closeIdle();
      await Promise.all(clients.map((client) => client.end()));
      await close();
    },
  };
}

/** Links of answers begin with the base URL that the server was told. */
const pathOf = (path: string): string => (path.startsWith(BASE_URL) ? path.slice(BASE_URL.length) : path);
