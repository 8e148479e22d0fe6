import { type Abstract, type Type } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { Client } from 'pg';
import { migrationSetsOf } from '../src/platform/database/schema/brings-migrations';
import { migrate } from '../src/platform/database/schema/migrate';
import { assertDefinition, type Members } from '../src/platform/discovery/definition';
import { Clock } from '../src/platform/time/clock';
import { type AppSettings, BASE_URL, ROOT, startApp } from './app-on-database';
import { HttpClient, type Received, type Sent } from './http-client';
import { throughPooler } from './databases';
import { cloneDatabase } from './test-databases';

export { ADMIN_PASSWORD, BASE_URL, basicHeader, encryptionKey, ROOT, ROOT_SECRET } from './app-on-database';
export type { Received, Sent } from './http-client';

/** The whole application on a real PostgreSQL and a free port of loopback, with functions that tests need. */
export interface TestApp {
  /** The address on which the server listens. Links in answers begin with {@link BASE_URL} instead. */
  readonly url: string;
  /** URL of the app's database, which {@link TestApp.close} drops. */
  readonly databaseUrl: string;
  /** Sends a request as the Client `root`, or with `sent.authorization`. */
  send(method: string, path: string, sent?: Sent): Promise<Received>;
  get(path: string, sent?: Sent): Promise<Received>;
  put(path: string, body: object | string, sent?: Sent): Promise<Received>;
  post(path: string, body: object | string, sent?: Sent): Promise<Received>;
  delete(path: string, sent?: Sent): Promise<Received>;
  /** Returns a provider of the server or of your modules, by its class or token. */
  provider<T>(token: Type<T> | Abstract<T> | string | symbol): T;
  /** Makes `Clock` return the time of `now` while `work` runs. */
  atTime<T>(now: () => Date, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
  /** @internal The application, for specs that test parts inside of the server. */
  readonly app: NestExpressApplication;
  /** @internal A connection to the database, which {@link close} ends. */
  connect(): Promise<Client>;
}

export interface TestAppOptions extends AppSettings {
  /** URL of a database that another app already uses. By default, the app gets a copy of the template. */
  readonly databaseUrl?: string;
}

const OPTIONS: Members<TestAppOptions> = {
  'modules?': { each: 'module' },
  'environment?': 'object',
  'databaseUrl?': 'string',
};

/** Settings that decide what the first start stores in a database. */
const AT_FIRST_START = ['SVC_AUDIT', 'SVC_TRIAL_POLICY', 'SVC_ENCRYPTION_KEY'];

/**
 * Starts a server with your modules on its own database, in about a second. It uses the PostgreSQL of
 * TEST_DATABASE_URL, whose role may create databases. Without this variable, it uses an embedded PostgreSQL, which
 * stops with the last app of the process.
 * @example
 * const app = await startTestApp({ modules: [WardModule] });
 * const { status } = await app.put('/fhir/Ward/w1', { beds: 12 });
 * await app.close();
 */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  assertDefinition(options, OPTIONS, 'startTestApp');
  const { environment = {}, modules = [] } = options;
  const database =
    options.databaseUrl === undefined
      ? await cloneDatabase(AT_FIRST_START.some((name) => name in environment) ? 'new' : 'started')
      : { url: options.databaseUrl, drop: () => Promise.resolve() };
  try {
    const sets = migrationSetsOf(modules);
    if (sets.length > 0) await migrate(database.url, undefined, sets); // the template lacks the tables of these modules
    const { app, url } = await startApp(throughPooler(database.url), {
      modules,
      environment: { SVC_DATABASE_DIRECT_URL: database.url, ...environment },
    });
    return testAppOf(app, url, database);
  } catch (error) {
    await database.drop();
    throw error;
  }
}

function testAppOf(
  app: NestExpressApplication,
  url: string,
  database: { readonly url: string; drop(): Promise<void> },
): TestApp {
  const http = new HttpClient();
  const clients: Client[] = [];
  const send = (method: string, path: string, sent: Sent = {}): Promise<Received> =>
    http.send(method, `${url}${pathOf(path)}`, { authorization: ROOT, ...sent });
  return {
    app,
    url,
    databaseUrl: database.url,
    send,
    get: (path, sent) => send('GET', path, sent),
    put: (path, body, sent) => send('PUT', path, { ...sent, body }),
    post: (path, body, sent) => send('POST', path, { ...sent, body }),
    delete: (path, sent) => send('DELETE', path, sent),
    provider: (token) => app.get(token, { strict: false }),
    connect: async () => {
      const client = new Client({ connectionString: database.url });
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
      await app.close();
      await database.drop();
    },
  };
}

/** The path of a request. A link of an answer begins with the base URL of the server, which is removed. */
const pathOf = (path: string): string => (path.startsWith(BASE_URL) ? path.slice(BASE_URL.length) : path);
