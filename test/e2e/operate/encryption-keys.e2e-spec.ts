import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { readEnvironment } from '../../../src/platform/config/environment';
import { SecretBox } from '../../../src/platform/crypto/secret-box';
import { runStatement } from '../../../testing/databases';
import { eventually } from '../../../testing/eventually';
import { ADMIN_PASSWORD, startTestApp, type TestApp } from '../../../testing/test-app';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { WebhookReceiver } from '../../../testing/webhook-receiver';
import { destination, newDestination, newTopic } from '../../support/destinations';
import { ServerProcess } from '../../support/server-process';
import { encryptAnew } from '../../../tools/rotate-keys/encrypt-anew';

const newKey = (): string => randomBytes(32).toString('base64');

/** The number of Users: more than two chunks of the tool, which have 100 rows each. */
const USERS = 250;

/** Matches the columns of bytes that hold no secret. */
const HASHES = /(?:hash|digest|^credential_failure\.key)$/;

describe('28.6: the rotation of SVC_ENCRYPTION_KEY', () => {
  const [older, newer] = [newKey(), newKey()];
  let database: ClonedDatabase;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    database = await cloneDatabase();
    const app = await startTestApp({ databaseUrl: database.url, environment: { SVC_ENCRYPTION_KEY: older } });
    await app.put('/Client/jwt-app', {
      grant_types: ['password'],
      auth: { password: { token_format: 'jwt', secret_required: false } },
    });
    const parameter = [
      { name: 'endpoint', valueUrl: receiver.url },
      { name: 'header', valueString: 'X-Ward: 4B' },
    ];
    await newDestination(app, destination(await newTopic(app), { parameter }));
    const box = new SecretBox(readEnvironment({ SVC_ENCRYPTION_KEY: older }));
    const sealed = box.seal(Buffer.from('JBSWY3DP')).toString('hex');
    await runStatement(
      database.url,
      `insert into user_two_factor (user_id, sealed_key) select 'u' || lpad(n::text, 3, '0'), decode('${sealed}', 'hex')
        from generate_series(1, ${USERS}) n`,
    );
    await app.close(); // it cannot decrypt re-encrypted secrets, so its delivery attempts would fail
  });
  afterAll(async () => {
    await database.drop();
    await receiver.stop();
  });

  const onKeys = (SVC_ENCRYPTION_KEY: string, SVC_ENCRYPTION_KEYS_ACCEPTED = ''): Promise<TestApp> =>
    startTestApp({ databaseUrl: database.url, environment: { SVC_ENCRYPTION_KEY, SVC_ENCRYPTION_KEYS_ACCEPTED } });

  /**
   * Expects that a server can decrypt its secrets. A JWT needs the signing key; a delivery needs the destination's
   * settings.
   */
  const expectSecretsOpen = async (server: TestApp): Promise<void> => {
    const form = new URLSearchParams({ grant_type: 'password', client_id: 'jwt-app', username: 'admin' });
    form.set('password', ADMIN_PASSWORD);
    const { status, text } = await server.post('/auth/token', form.toString(), {
      authorization: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([status, text]).toEqual([200, expect.stringContaining('access_token')]);
    const before = receiver.requests.length;
    expect((await server.post('/Patient', { gender: 'female' })).status).toBe(201);
    await eventually('the webhook arrives', () => receiver.requests.length > before);
    expect(receiver.requests.at(-1)?.headers['x-ward']).toBe('4B');
  };

  const startTool = (key: string, accepted: string): ChildProcessWithoutNullStreams =>
    spawn(process.execPath, [join(process.env.TEST_BUILD ?? '', 'tools/rotate-keys/rotate-keys.js'), '--encryption'], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: database.url,
        SVC_ENCRYPTION_KEY: key,
        SVC_ENCRYPTION_KEYS_ACCEPTED: accepted,
      },
    });

  const rotate = async (key: string, accepted = ''): Promise<{ code: number; text: string }> => {
    const child = startTool(key, accepted);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, text };
  };

  it('refuses a start with another key, and names the setting', async () => {
    await expect(onKeys(newer)).rejects.toThrow('name it in SVC_ENCRYPTION_KEYS_ACCEPTED');
  });

  it('keeps the secrets that a killed run re-encrypted, except those of its last chunk', async () => {
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    try {
      await holder.query(
        `create function wait_here() returns trigger language plpgsql
          as $$ begin perform pg_advisory_xact_lock(1); return new; end $$;
        create trigger wait_here before update on user_two_factor for each row when (new.user_id = 'u150')
          execute function wait_here();
        select pg_advisory_lock(1)`,
      );
      const child = startTool(newer, older);
      await eventually('the tool waits in the middle of its second chunk', async () => {
        const { rowCount } = await holder.query(
          `select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`,
        );
        return rowCount === 1;
      });
      child.kill('SIGKILL');
      await once(child, 'close');
      await holder.query('select pg_advisory_unlock(1); drop function wait_here cascade');
    } finally {
      await holder.end();
    }
    const box = new SecretBox(readEnvironment({ SVC_ENCRYPTION_KEY: newer }));
    const values = await secretsOf(database.url);
    // The values under the new key so far: the row of a destination, and one chunk of 100 rows.
    expect(values.filter(({ value }) => box.isCurrent(value))).toHaveLength(101);
  });

  it('names the sessions that a run waits for', async () => {
    const holder = new Client({ connectionString: database.url, application_name: 'psql of the operator' });
    await holder.connect();
    try {
      await holder.query('begin; select from user_two_factor for update');
      const child = startTool(newer, older);
      const [line] = (await once(child.stderr, 'data')) as [Buffer];
      child.kill('SIGKILL');
      await once(child, 'close');
      expect(line.toString()).toMatch(
        /^rotate-keys waits for other transactions of the database: process \d+ \(psql of the operator, since \S+Z\)\.\n$/,
      );
    } finally {
      await holder.end();
    }
  }, 60_000);

  it('refuses a start without the older key until a run is complete', async () => {
    await expect(onKeys(newer)).rejects.toThrow('name it in SVC_ENCRYPTION_KEYS_ACCEPTED');
  });

  it('lets servers with both keys share one database before and after the re-encryption', async () => {
    const first = await onKeys(older, newer);
    const second = await onKeys(newer, older);
    try {
      for (const server of [first, second]) await expectSecretsOpen(server);
      const { code, text } = await rotate(newer, older);
      expect([code, text]).toEqual([0, expect.stringContaining(`All ${USERS + 2} secrets`)]);
      expect(text).toContain(`; ${USERS + 2 - 101} of them had another key`);
      for (const server of [first, second]) await expectSecretsOpen(server);
    } finally {
      await first.close();
      await second.close();
    }
  });

  it('needs no older key afterwards, and a repeated run finds nothing to do', async () => {
    const server = await onKeys(newer);
    await expectSecretsOpen(server);
    await server.close();
    expect(await rotate(newer)).toEqual({ code: 0, text: expect.stringContaining('; 0 of them had another key') });
    await expect(onKeys(older)).rejects.toThrow('SVC_ENCRYPTION_KEY is not the key');
  });

  it('leaves no value with the older key in any column that holds secrets', async () => {
    const box = new SecretBox(readEnvironment({ SVC_ENCRYPTION_KEY: older }));
    const values = await secretsOf(database.url);
    expect(values).toHaveLength(USERS + 2);
    expect(values.filter(({ value }) => box.isCurrent(value))).toEqual([]);
  });

  it('changes no row that no key decrypts, and names it', async () => {
    const { code, text } = await rotate(newKey());
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/^destination_runtime \S+: .*SVC_ENCRYPTION_KEYS_ACCEPTED/),
    ]);
    await (await onKeys(newer)).close();
  });
});

describe('secrets that a server encrypts with the older key after the rotation', () => {
  it('are found by the next start without that key: a signing key refuses it, a destination is logged', async () => {
    const [older, newer] = [newKey(), newKey()];
    const database = await cloneDatabase();
    const start = (key: string, accepted = ''): Promise<TestApp> =>
      startTestApp({
        databaseUrl: database.url,
        environment: { SVC_ENCRYPTION_KEY: key, SVC_ENCRYPTION_KEYS_ACCEPTED: accepted },
      });
    try {
      const stale = await start(older);
      await encryptAnew(
        database.url,
        new SecretBox(readEnvironment({ SVC_ENCRYPTION_KEY: newer, SVC_ENCRYPTION_KEYS_ACCEPTED: older })),
        () => undefined,
      );
      const id = await newDestination(stale, destination(await newTopic(stale)));
      const { kid } = (await stale.post('/auth/rotate-keys', '')).json<{ kid: string }>();
      await stale.close();

      await expect(start(newer)).rejects.toThrow('name it in SVC_ENCRYPTION_KEYS_ACCEPTED');

      await runStatement(database.url, `delete from signing_key where kid = '${kid}'`);
      const server = await ServerProcess.start({
        ...{ DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', SVC_ENCRYPTION_KEY: newer },
      });
      await server.end('SIGTERM');
      const [before = ''] = server.output.split('Listening on');
      expect(before).toContain(`nothing is sent to them: ${id}. `);

      const later = await start(newer);
      try {
        const path = `/fhir/SvcTopicDestination/${id}`;
        const renamed = [{ op: 'add', path: '/name', value: 'ward' }];
        const headers = { 'Content-Type': 'application/json-patch+json' };
        for (const answer of [await later.get(path), await later.send('PATCH', path, { body: renamed, headers })])
          expect([answer.status, answer.headers.get('retry-after'), answer.text]).toEqual([
            503,
            '60',
            expect.stringContaining('SVC_ENCRYPTION_KEYS_ACCEPTED'),
          ]);
        expect((await later.delete(path)).status).toBe(200);
      } finally {
        await later.close();
      }
    } finally {
      await database.drop();
    }
  });
});

/**
 * All secrets of a database, found by its columns of bytes.
 * @throws Error when a column has no value, since the test would then check nothing for it.
 */
async function secretsOf(url: string): Promise<{ readonly column: string; readonly value: Buffer }[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: columns } = await client.query<{ table: string; column: string }>(
      `select table_name as table, column_name as column from information_schema.columns
        where table_schema = 'public' and data_type = 'bytea'`,
    );
    const values = [];
    for (const { table, column } of columns) {
      const name = `${table}.${column}`;
      if (HASHES.test(name)) continue;
      const { rows } = await client.query<{ value: Buffer }>(`select ${column} as value from ${table}`);
      if (rows.length === 0) throw new Error(`${name} is empty: store a value, and name it in encrypt-anew.ts`);
      values.push(...rows.map(({ value }) => ({ column: name, value })));
    }
    return values;
  } finally {
    await client.end();
  }
}
