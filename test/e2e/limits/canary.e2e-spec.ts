import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { eventually } from '../../../testing/eventually';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { ServerProcess } from '../../support/server-process';
import { basicHeader } from '../../../testing/test-app';

/** Secrets that must not appear anywhere else. Each is sent once, where it belongs. */
const SECRETS = {
  password: 'Qcanary-password-1',
  wrongPassword: 'Qcanary-wrong-password-2',
  clientSecret: 'Qcanary-client-secret-3',
  wrongSecret: 'Qcanary-wrong-secret-4',
  bearer: 'Qcanary-bearer-5',
  webhookHeader: 'Qcanary-webhook-header-6',
  refreshToken: 'Qcanary-refresh-token-8',
  queryToken: 'Qcanary-query-token-9',
  // Base32, the format of keys in authenticator apps.
  oneTimeKey: 'QCANARYQCANARYQCANARYQCANARYQCAN',
};
/** A name that may appear only in responses to callers who may read the patient. */
const NAME = 'Qcanary-family-name';
const ROOT_SECRET = 'Qcanary-root-secret-7';
const ROOT = basicHeader('root', ROOT_SECRET);

interface Call {
  readonly caller: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}
interface Answer extends Call {
  readonly status: number;
  readonly text: string;
}

const CONTENT = { resourceType: 'Patient', id: 'known', name: [{ family: NAME }], gender: 'wrong', extra: NAME };
const SECRET_BODY = {
  grant_type: 'password',
  client_id: 'app',
  client_secret: SECRETS.wrongSecret,
  username: 'nurse',
  password: SECRETS.wrongPassword,
  currentPassword: SECRETS.wrongPassword,
  newPassword: SECRETS.wrongPassword,
  refresh_token: SECRETS.refreshToken,
  token: SECRETS.bearer,
  totp: SECRETS.oneTimeKey,
};

/** Bodies that are valid for some routes and invalid for others: each is sent to every route. */
const BODIES: Readonly<Record<string, string>> = {
  none: '',
  patient: JSON.stringify({ resourceType: 'Patient', name: [{ family: NAME }] }),
  invalid: JSON.stringify(CONTENT),
  broken: `{"resourceType":"Patient","name":[{"family":"${NAME}"`,
  nul: `{"resourceType":"Patient","name":[{"family":"${NAME}\\u0000"}]}`,
  twice: `{"name":[{"family":"${NAME}"}],"name":[{"family":"${NAME}"}]}`,
  secrets: JSON.stringify(SECRET_BODY),
  rpc: JSON.stringify({
    method: 'svc.sdc.addendum/add-note',
    params: { target: NAME, text: NAME },
  }),
  patch: JSON.stringify([{ op: 'test', path: '/name/0/family', value: `${NAME}-other` }]),
};

/** The bodies for a path. Documents accept any content, so a secret that is stored in one on purpose is no leak. */
const bodiesFor = (path: string): string[] =>
  Object.values(path.includes('/SDC') ? { ...BODIES, secrets: '' } : BODIES);

/**
 * A database function whose error message quotes the written value, like PostgreSQL's for values that it cannot read.
 */
const MISREAD = `create function misread() returns trigger language plpgsql as $$ begin perform new.body::integer; return new; end $$;
  create trigger misread before insert on resource for each row when (new.type <> 'AuditEvent') execute function misread()`;
const PATIENT = { resourceType: 'Patient', name: [{ family: NAME }] };
const CREATE_IN_BUNDLE = {
  resourceType: 'Bundle',
  type: 'transaction',
  entry: [{ request: { method: 'POST', url: 'Patient' }, resource: PATIENT }],
};
const COMMENT = {
  method: 'svc.sdc.addendum/add-comment',
  params: { target: { resourceType: 'SDCDocument', id: 'd' }, user: { resourceType: 'User', id: 'nurse' }, text: NAME },
};
const LOGIN = { ...SECRET_BODY, client_secret: SECRETS.clientSecret, password: SECRETS.password };

interface Breakage {
  readonly breaking: string;
  readonly mending: string;
  readonly calls: readonly (readonly [caller: string, method: string, path: string, body: object])[];
}
const BREAKAGES: readonly Breakage[] = [
  {
    breaking: 'alter table resource_history rename to lost',
    mending: 'alter table lost rename to resource_history',
    calls: [['nurse', 'PUT', '/Patient/broken', PATIENT]],
  },
  {
    // The error of a violated check constraint contains the whole row.
    breaking: `alter table resource add constraint refused check (type <> 'Patient') not valid`,
    mending: 'alter table resource drop constraint refused',
    calls: [
      ['nurse', 'POST', '/Patient', PATIENT],
      ['nurse', 'POST', '/fhir', CREATE_IN_BUNDLE],
    ],
  },
  {
    breaking: MISREAD,
    mending: 'drop function misread() cascade',
    calls: [
      ['nurse', 'POST', '/Patient', PATIENT],
      ['nurse', 'POST', '/rpc', COMMENT],
      ['nobody', 'POST', '/auth/token', LOGIN],
    ],
  },
  {
    // The parser's error quotes the text that it cannot read.
    breaking: `update resource set body = '{"name":${NAME}}' where type = 'Patient' and id = 'broken'`,
    mending: `update resource set body = '{"resourceType":"Patient","id":"broken"}' where type = 'Patient' and id = 'broken'`,
    calls: [['nurse', 'PATCH', '/Patient/broken', { gender: 'female' }]],
  },
];

/** The order of the calls: deletes come last, and then the call that ends the caller's own Session. */
const rankOf = ({ method, path }: { method: string; path: string }): number =>
  method !== 'DELETE' ? 0 : path.endsWith('/Session') ? 2 : 1;

describe('canary values', () => {
  let database: ClonedDatabase;
  let server: ServerProcess;
  let bearers: Readonly<Record<string, string | undefined>>;
  let issued: readonly string[];
  const answers: Answer[] = [];
  /** Answers while the database was broken. */
  const failed: Answer[] = [];
  let sent = 0;

  const send = async (
    caller: string,
    method: string,
    path: string,
    body = '',
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const authorization = caller === 'root' ? ROOT : bearers[caller];
    sent++;
    const response = await fetch(`${server.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(authorization === undefined ? {} : { Authorization: authorization }),
        ...(body === '' ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === '' || method === 'GET' ? {} : { body }),
    });
    const head = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    return { caller, method, path, body, status: response.status, text: `${head}\n\n${await response.text()}` };
  };
  const put = (path: string, body: object): Promise<Answer> => send('root', 'PUT', path, JSON.stringify(body));
  const tokenFor = async (username: string): Promise<readonly string[]> => {
    const body = { ...SECRET_BODY, client_secret: SECRETS.clientSecret, username, password: SECRETS.password };
    const { text } = await send('nobody', 'POST', '/auth/token', JSON.stringify(body));
    const tokens = JSON.parse(text.slice(text.indexOf('\n\n'))) as Record<string, string>;
    return [tokens.access_token ?? '', tokens.refresh_token ?? ''];
  };

  beforeAll(async () => {
    database = await cloneDatabase();
    server = await ServerProcess.start({
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
      SVC_ADMIN_PASSWORD: SECRETS.password,
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      SVC_LOG_LEVEL: 'verbose',
      SVC_AUDIT: 'all',
      // Prints spans as lines of the log.
      NODE_OPTIONS: `--require ${resolve('test/support/print-spans.cjs')}`,
      SVC_CREDENTIAL_FAILURES_FREE: '100000',
      SVC_CREDENTIAL_FAILURES_FREE_PER_ADDRESS: '100000',
    });
    bearers = {};
    const auth = { password: { refresh_token: true } };
    await put('/Client/app', { secret: SECRETS.clientSecret, grant_types: ['password'], auth });
    for (const user of ['nurse', 'stranger'])
      await put(`/User/${user}`, { userName: user, password: SECRETS.password });
    await put('/User/known', {
      userName: 'known',
      password: SECRETS.password,
      twoFactor: { enabled: true, secretKey: SECRETS.oneTimeKey },
    });
    await put('/AccessPolicy/nurse', { engine: 'allow', link: [{ resourceType: 'User', id: 'nurse' }] });
    await put('/Patient/known', { name: [{ family: NAME }] });
    await put('/Patient/changed', { name: [{ family: NAME }] });
    await put('/SvcSubscriptionTopic/known', {
      url: 'http://svc.example/topics/all',
      status: 'active',
      trigger: [{ resource: 'Patient' }],
    });
    await put('/SvcTopicDestination/known', {
      meta: { profile: ['http://svc.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
      kind: 'webhook-at-least-once',
      topic: 'http://svc.example/topics/all',
      parameter: [
        { name: 'endpoint', valueUrl: 'http://127.0.0.1:9/hook' },
        { name: 'header', valueString: `Authorization: ${SECRETS.webhookHeader}` },
      ],
    });
    const [nurse, stranger] = [await tokenFor('nurse'), await tokenFor('stranger')];
    issued = [...nurse, ...stranger];
    bearers = {
      nurse: `Bearer ${nurse[0] ?? ''}`,
      stranger: `Bearer ${stranger[0] ?? ''}`,
      forged: `Bearer ${SECRETS.bearer}`,
      wrongBasic: basicHeader('root', SECRETS.wrongSecret),
    };
    for (const caller of ['stranger', 'nurse'])
      for (const query of [
        '_explain=1',
        `family=${NAME}&_explain=1`,
        `nonsense=${NAME}`,
        `access_token=${SECRETS.queryToken}`,
        `birthdate=${NAME}`,
      ])
        answers.push(await send(caller, 'GET', `/Patient?${query}`));
    const wrongMatch = { 'If-Match': 'W/"99"' };
    answers.push(await send('nurse', 'PUT', '/Patient/changed', BODIES.patient, wrongMatch));
    answers.push(
      await send(
        'nurse',
        'POST',
        '/Patient',
        JSON.stringify({ resourceType: 'Patient', id: 'changed', name: [{ family: NAME }] }),
      ),
    );
    answers.push(await send('root', 'GET', '/SvcTopicDestination/known/$status'));
    await put('/SDCDocument/d', {});
    await put('/Patient/broken', {});
    const client = new Client({ connectionString: database.url });
    await client.connect();
    for (const { breaking, mending, calls } of BREAKAGES) {
      await client.query(breaking);
      for (const [caller, method, path, body] of calls)
        failed.push(await send(caller, method, path, JSON.stringify(body)));
      await client.query(mending);
    }
    await client.end();
    answers.push(...failed);
    const routes = await routesOf();
    for (const { method, path } of routes)
      for (const caller of ['nobody', 'forged', 'wrongBasic', 'stranger', 'nurse'])
        for (const body of method === 'GET' || method === 'DELETE' ? [''] : bodiesFor(path))
          answers.push(await send(caller, method, path, body));
    for (const type of ['User', 'Client', 'SvcTopicDestination', 'Session'])
      for (const path of [
        `/${type}`,
        `/${type}/known`,
        `/${type}/known/_history`,
        `/${type}/_history`,
        `/${type}?_explain=1`,
      ])
        answers.push(await send('root', 'GET', path));
  }, 400_000);
  afterAll(async () => {
    await server.end('SIGTERM');
    await database.drop();
  });

  /** Every route that the server describes, so that new routes are covered; deletes come last. */
  async function routesOf(): Promise<{ method: string; path: string }[]> {
    const { text } = await send('nobody', 'GET', '/api-json');
    const { paths } = JSON.parse(text.slice(text.indexOf('\n\n'))) as { paths: Record<string, Record<string, object>> };
    const routes = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => ({
        method: method.toUpperCase(),
        path: path
          .replace(/\{(type|compartment)\}/g, 'Patient')
          .replace('{version}', '1')
          .replace(/\{\w+\}/g, 'known'),
      })),
    );
    return routes
      .filter(({ method }) => method !== 'PARAMETERS' && method !== 'OPTIONS')
      .sort((one, other) => rankOf(one) - rankOf(other));
  }

  const secrets = (): string[] => [...Object.values(SECRETS), ROOT_SECRET, ...issued].filter((text) => text !== '');
  const shown = ({ caller, method, path, status, body }: Answer, what: string): string =>
    `${caller} ${method} ${path} ${status} [${Object.entries(BODIES).find(([, text]) => text === body)?.[0] ?? body.slice(0, 40)}]: ${what}`;

  it('were sent to many routes, with many outcomes', () => {
    expect(new Set(answers.map(({ method, path }) => `${method} ${path}`)).size).toBeGreaterThan(30);
    const statuses = new Set(answers.map(({ status }) => status));
    expect([200, 201, 400, 401, 403, 404, 409, 412, 422].filter((status) => !statuses.has(status))).toEqual([]);
    const unforeseen = answers.filter((answer) => answer.status === 500 && !failed.includes(answer));
    expect(unforeseen.map((answer) => shown(answer, answer.text))).toEqual([]);
  });

  it('were sent with a broken database: each call is 500 with only its request id, which is in the log', () => {
    expect(failed.filter(({ status }) => status !== 500).map((answer) => shown(answer, answer.text))).toEqual([]);
    const ids = failed.map(({ text }) => /Name this request id to the operator: ([\w-]+)/.exec(text)?.[1] ?? 'none');
    const logged = server.output.split('\n').filter((line) => line.includes('"level":"error"'));
    expect(ids.filter((id) => !logged.some((line) => line.includes(id)))).toEqual([]);
    expect(new Set(ids).size).toBe(failed.length);
    expect(failed.filter(({ text }) => text.includes(NAME))).toEqual([]);
  });

  /**
   * Whether a header value may be shown: in a read or write of the single destination, to callers who may update it
   * (docs/reference/destinations.md, "Secrets of a destination").
   */
  const isForWhoMayUpdate = ({ caller, method, path }: Answer, secret: string): boolean =>
    secret === SECRETS.webhookHeader &&
    (caller === 'nurse' || caller === 'root') &&
    method !== 'DELETE' &&
    /^(\/fhir)?\/SvcTopicDestination\/known$/.test(path);

  it('that are secrets are in no response', () => {
    const found = answers.flatMap((answer) =>
      secrets()
        .filter((secret) => answer.text.includes(secret) && !isForWhoMayUpdate(answer, secret))
        .map((secret) => shown(answer, secret)),
    );
    expect(found).toEqual([]);
  });

  it('of patients are in no response to callers who may not read them', () => {
    const found = answers
      .filter(({ caller }) => caller !== 'nurse' && caller !== 'root')
      .filter(({ text }) => text.includes(NAME))
      .map((answer) => shown(answer, answer.text.slice(-300)));
    expect(found).toEqual([]);
  });

  it('are not in the log', () => {
    const lines = server.output.split('\n');
    expect(lines.length).toBeGreaterThan(100);
    const found = lines.filter((line) => [NAME, ...secrets()].some((canary) => line.includes(canary)));
    expect(found.slice(0, 5).map((line) => line.slice(0, 600))).toEqual([]);
  });

  it('O7: are not in the access log, which has one entry for each request', async () => {
    // The server may write the last line after it has sent the answer.
    const lines = await eventually('each request has its line', () => {
      const found = server.output.split('\n').filter((line) => line.includes('"event":"request"'));
      return found.length === sent && found;
    });
    const messages = lines.map((line) => (JSON.parse(line) as { message: { route: string } }).message);
    const found = messages.filter(({ route }) => /\/(known|broken|changed|d)\b|Patient|Observation|[?=]/.test(route));
    expect([found, new Set(messages.map(({ route }) => route)).size > 40]).toEqual([[], true]);
  });

  it('O7: are searched in spans of requests, statements and deliveries too', () => {
    const lines = server.output.split('\n').filter((line) => line.startsWith('{"span":'));
    const names = new Set(lines.map((line) => (JSON.parse(line) as { span: string }).span));
    expect(lines.length).toBeGreaterThan(sent);
    expect([...names]).toEqual(expect.arrayContaining(['GET /fhir/:type/:id', 'COMMIT', 'deliver']));
  });

  it('are in no AuditEvent, except in the query that named a patient', async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ body: string }>(`select body from resource where type = 'AuditEvent'`);
    await client.end();
    expect(rows.length).toBeGreaterThan(100);
    const queries = rows.flatMap(({ body }) =>
      [...body.matchAll(/"query":"([^"]+)"/g)].map(([, text = '']) => Buffer.from(text, 'base64').toString()),
    );
    expect(queries.filter((query) => secrets().some((secret) => query.includes(secret)))).toEqual([]);
    const found = rows.filter(({ body }) => [NAME, ...secrets()].some((canary) => body.includes(canary)));
    expect(found.slice(0, 5)).toEqual([]);
  });

  it('that are secrets are in no table', async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows: tables } = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public'`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select row_to_json(t)::text as text from "${name}" t`);
      for (const { text } of rows)
        found.push(
          ...secrets()
            .filter((secret) => text.includes(secret))
            .map((secret) => `${name}: ${secret} in ${text.slice(0, 400)}`),
        );
    }
    await client.end();
    expect(found.slice(0, 10)).toEqual([]);
  });
});
