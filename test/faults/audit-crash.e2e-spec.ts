import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type ClonedDatabase, cloneDatabase } from '../../testing/test-databases';
import { eventually } from '../../testing/eventually';
import { ServerProcess } from '../support/server-process';
import { ADMIN_PASSWORD, ROOT, ROOT_SECRET } from '../../testing/test-app';

/** Number of rounds; for a longer run set `KILL_ROUNDS=30`. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 2);
const WRITERS = 6;
/** The longest wait in milliseconds, enough for a busy machine. */
const PATIENCE = 60_000;

/**
 * Written versions without an AuditEvent, AuditEvents without the version that they name, and pairs of both that were
 * stored in different transactions.
 */
const DIFFERENCES = `
  with change as (
    select 'resource' as place, type || '/' || id as what, version::text, transaction_id from resource
      where type in ('Patient', 'Observation', 'User')
    union all select 'history', type || '/' || id, version::text, transaction_id from resource_history
      where type in ('Patient', 'Observation', 'User')
  ), audited as (
    select entity #>> '{what,reference}' as what, entity #>> '{detail,0,valueString}' as version, transaction_id
    from (select transaction_id, body::jsonb from resource where type = 'AuditEvent') event (transaction_id, body),
      jsonb_path_query(body, '$.entity[*] ? (@.detail[*].type == "versionId")') entity
    where body ->> 'outcome' = '0' and body #>> '{subtype,0,code}' in ('create', 'update', 'patch', 'delete')
      and entity #>> '{what,reference}' ~ '^(Patient|Observation|User)/'
  )
  select coalesce(change.what, audited.what) as what, coalesce(change.version, audited.version) as version,
    case when audited.what is null then 'is not audited' when change.what is null then 'did not happen' else 'in another transaction' end as fault
  from change full join audited using (what, version)
  where change.transaction_id is distinct from audited.transaction_id`;

const WRITTEN = `select type || '/' || id || '/' || version as key from resource where type in ('Patient', 'Observation', 'User')
  union select type || '/' || id || '/' || version from resource_history where type in ('Patient', 'Observation', 'User')`;

describe(`the audit trail after ${ROUNDS} kills of the server and lost connections`, () => {
  let database: ClonedDatabase;
  let client: Client;
  let server: ServerProcess | undefined;
  let isOver = true;
  let settings: Record<string, string>;

  beforeAll(async () => {
    database = await cloneDatabase();
    settings = {
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
      SVC_ADMIN_PASSWORD: ADMIN_PASSWORD,
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      SVC_AUDIT: 'all',
    };
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    isOver = true;
    await server?.end('SIGKILL');
    await client.end();
    await database.drop();
  });

  const observation = (patient: string): object => ({
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'pulse' },
    subject: { reference: `Patient/${patient}` },
  });
  /** Writes of every form. All writers use the same few Patients, so that they conflict. */
  const writeOf = (writer: number, step: number): [method: string, path: string, body?: object] => {
    const [patient, user] = [`p${(writer + step) % 5}`, `u${writer}`];
    const version = { resourceType: 'Patient', id: patient, multipleBirthInteger: writer * 100_000 + step };
    const inBundle = (method: string, url: string, resource?: object): object => ({
      request: { method, url },
      resource,
    });
    const writes: readonly [method: string, path: string, body?: object][] = [
      ['PUT', `/Patient/${patient}`, version],
      ['POST', '/Observation', observation(patient)],
      ['PATCH', `/Patient/${patient}`, { multipleBirthInteger: step }],
      ['PUT', `/User/${user}`, { userName: user, data: { step } }],
      [
        'POST',
        '/fhir',
        {
          resourceType: 'Bundle',
          type: step % 2 === 0 ? 'transaction' : 'batch',
          entry: [
            inBundle('PUT', `Patient/${patient}`, version),
            inBundle('POST', 'Observation', observation(patient)),
            inBundle('DELETE', `User/${user}`),
          ],
        },
      ],
      ['DELETE', `/Patient/${patient}`],
    ];
    return writes[step % writes.length] ?? ['GET', '/health'];
  };

  it(
    'contains one record for each change that was stored, and no others',
    async () => {
      const acknowledged = new Set<string>();
      for (let round = 0; round < ROUNDS; round++) {
        const started = await ServerProcess.start(settings);
        server = started;
        let answered = 0;
        isOver = false;
        const writers = Array.from({ length: WRITERS }, async (_one, writer) => {
          for (let step = round; !isOver; step++) {
            const [method, path, body] = writeOf(writer, step);
            const headers = {
              Authorization: ROOT,
              'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
            };
            const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
            const answer = await fetch(`${started.url}${path}`, sent).catch(() => undefined);
            await answer?.text().catch(() => undefined);
            if (answer?.ok !== true) continue;
            answered++;
            const version = /"(\d+)"/.exec(answer.headers.get('etag') ?? '')?.[1];
            if (method === 'PUT' && version !== undefined) acknowledged.add(`${path.slice(1)}/${version}`);
          }
        });
        await eventually('some writes are answered', () => answered > 40 + 7 * (round % 5), PATIENCE);
        await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'svc-health-server%' and datname = current_database()`,
        );
        const before = answered;
        await eventually('writes are answered again', () => answered > before + 25 + 7 * (round % 7), PATIENCE);
        await started.end('SIGKILL');
        isOver = true;
        await Promise.all(writers);
      }
      // PostgreSQL may still process statements of the killed server, so this waits until its sessions have ended. A
      // pooler keeps idle sessions open, so those are ignored.
      const isPooled = process.env.TEST_POOLER !== undefined;
      await eventually(
        'its transactions are over',
        async () => {
          const { rows } = await client.query(
            `select 1 from pg_stat_activity where application_name like 'svc-health-server%' and datname = current_database()
              and not ($1 and state = 'idle')`,
            [isPooled],
          );
          return rows.length === 0;
        },
        PATIENCE,
      );
      const { rows: faults } = await client.query<object>(DIFFERENCES);
      expect(faults).toEqual([]);
      const written = new Set((await client.query<{ key: string }>(WRITTEN)).rows.map(({ key }) => key));
      expect([...acknowledged].filter((key) => !written.has(key))).toEqual([]);
      expect(acknowledged.size).toBeGreaterThan(10 * ROUNDS);
      if (ROUNDS > 5) process.stdout.write(`changes, each with its AuditEvent: ${written.size}\n`);
    },
    180_000 + ROUNDS * 30_000,
  );
});
