import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { type AppOptions } from '../../src/app.module';
import type * as Setup from '../../src/app.setup';
import type * as Config from '../../src/platform/config/environment';
import { cloneDatabase } from './clone-database';

/** What answers link to; specs send such links with {@link TestApp.send} as they are. */
export const BASE_URL = 'http://svc.example';
export const ROOT_SECRET = 'root-secret-for-specs';
export const ADMIN_PASSWORD = 'admin-password-for-specs';

/** One for the run: databases hold what was sealed by it. */
export const encryptionKey = (): string => process.env.TEST_ENCRYPTION_KEY ?? '';
const basic = (id: string, secret: string): string => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** Credentials of the Client `root`, who may do everything. */
export const ROOT = basic('root', ROOT_SECRET);
export const basicHeader = basic;

export interface Sent {
  /** Value of the Authorization header; `null` sends none. Default: Client root. */
  readonly authorization?: string | null;
  /** An object is sent as JSON; a string or Buffer as it is. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed text; fails the spec when it is no JSON. */
  json<T = Record<string, unknown>>(): T;
}

/** The whole application on a real PostgreSQL and a free port of loopback. */
export interface CompiledApp {
  /** The address that it really listens on. */
  readonly url: string;
  readonly databaseUrl: string;
  send(method: string, path: string, sent?: Sent): Promise<Received>;
  get(path: string, sent?: Sent): Promise<Received>;
  put(path: string, body: object | string, sent?: Sent): Promise<Received>;
  post(path: string, body: object | string, sent?: Sent): Promise<Received>;
  delete(path: string, sent?: Sent): Promise<Received>;
  close(): Promise<void>;
}

export interface CompiledAppOptions {
  /** Settings that differ from the specs' own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A database that another app already uses; by default a clone of the template that {@link TestApp.close} drops. */
  readonly databaseUrl?: string;
}

/** Settings that bear on what the first start leaves in a database. */
const AT_FIRST_START = ['SVC_AUDIT', 'SVC_TRIAL_POLICY', 'SVC_ENCRYPTION_KEY'];

type Code = Pick<typeof Setup, 'createApp' | 'listen'> & Pick<typeof Config, 'readEnvironment'>;

/**
 * For specs that talk HTTP and SQL alone: each worker loads the 2,000 modules of the server once, not for each file. Specs
 * that reach into the server need `startTestApp`, and so do databases that are no copy of the template: code that was
 * loaded once knows one hash key.
 */
export function startCompiledApp(options: CompiledAppOptions = {}): Promise<CompiledApp> {
  // The require of Node, not that of jest's sandbox.
  const { createRequire } = (runInThisContext('process') as NodeJS.Process).getBuiltinModule('node:module');
  const folder = join(process.env.TEST_BUILD ?? '', 'src');
  const load = createRequire(join(folder, 'main.js'));
  return startApp(
    { ...(load('./app.setup') as typeof Setup), ...(load('./platform/config/environment') as typeof Config) },
    options,
  );
}

/** Starts the application of some code. */
export async function startApp(
  { createApp, listen, readEnvironment }: Code,
  options: CompiledAppOptions & Pick<AppOptions, 'extensions'>,
): Promise<CompiledApp & { readonly app: NestExpressApplication }> {
  const database =
    options.databaseUrl === undefined
      ? await cloneDatabase(AT_FIRST_START.some((name) => name in (options.environment ?? {})) ? 'new' : 'started')
      : { url: options.databaseUrl, drop: () => Promise.resolve() };
  const environment = readEnvironment({
    PORT: '0',
    HOST: '127.0.0.1',
    BASE_URL,
    DATABASE_URL: database.url,
    SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
    SVC_ADMIN_PASSWORD: ADMIN_PASSWORD,
    SVC_ENCRYPTION_KEY: encryptionKey(),
    SVC_LOG_LEVEL: 'error',
    SVC_DATABASE_POOL_SIZE: '8',
    // `close` waits for connections that fetch keeps.
    SVC_KEEP_ALIVE_SECONDS: '1',
    // Short ones are easier to read in specs.
    SVC_PASSWORD_MIN_LENGTH: '1',
    ...options.environment,
  });
  const app = await createApp({
    environment,
    databaseUrl: database.url,
    ...(options.extensions === undefined ? {} : { extensions: options.extensions }),
  });
  try {
    await listen(app, 0, '127.0.0.1');
  } catch (error) {
    await app.close();
    await database.drop();
    throw error;
  }
  const url = await app.getUrl();
  const send = (method: string, path: string, sent: Sent = {}): Promise<Received> =>
    request(method, `${url}${pathOf(path)}`, sent);
  return {
    app,
    url,
    databaseUrl: database.url,
    send,
    get: (path, sent) => send('GET', path, sent),
    put: (path, body, sent) => send('PUT', path, { ...sent, body }),
    post: (path, body, sent) => send('POST', path, { ...sent, body }),
    delete: (path, sent) => send('DELETE', path, sent),
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}

/** Links of answers begin with the base URL that the server was told. */
const pathOf = (path: string): string => (path.startsWith(BASE_URL) ? path.slice(BASE_URL.length) : path);

async function request(
  method: string,
  url: string,
  { authorization = ROOT, body, headers = {} }: Sent,
): Promise<Received> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(authorization === null ? {} : { Authorization: authorization }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: <T>() => JSON.parse(text) as T,
  };
}
