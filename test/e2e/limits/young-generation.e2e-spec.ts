import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_PASSWORD, encryptionKey, ROOT, ROOT_SECRET } from '../../../testing/test-app';
import { cloneDatabase, type ClonedDatabase } from '../../../testing/test-databases';
import { CONCURRENCY, LoadClient } from '../../../tools/bench/load-client';
import { ServerProcess } from '../../support/server-process';

const OBSERVATIONS = 20;

interface Scavenges {
  readonly count: number;
  /** Bytes that moved to the old generation. */
  readonly promotedBytes: number;
}

/** Reads the output of V8, which prints a line for each. */
function scavengesIn(output: string): Scavenges {
  const promoted = [...output.matchAll(/ gc=s .* promoted=(\d+)/g)].map(([, bytes]) => Number(bytes));
  return { count: promoted.length, promotedBytes: promoted.reduce((sum, bytes) => sum + bytes, 0) };
}

describe('the young generation of V8 (ADR 0072)', () => {
  let database: ClonedDatabase;
  let server: ServerProcess;
  let client: LoadClient;

  beforeAll(async () => {
    database = await cloneDatabase();
    server = await ServerProcess.start(
      {
        PORT: '0',
        HOST: '127.0.0.1',
        DATABASE_URL: database.url,
        SVC_ENCRYPTION_KEY: encryptionKey(),
        SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
        SVC_ADMIN_PASSWORD: ADMIN_PASSWORD,
      },
      ['--trace-gc', '--trace-gc-nvp'],
    );
    client = new LoadClient({ name: 'server', baseUrl: server.url, authorization: ROOT });
    const resources = [
      { resourceType: 'Patient', id: 'p' },
      ...Array.from({ length: OBSERVATIONS }, (_one, number) => ({
        resourceType: 'Observation',
        id: `o${number}`,
        status: 'final',
        code: { text: 'x' },
        subject: { reference: 'Patient/p' },
      })),
    ];
    const entry = resources.map((resource) => ({
      resource,
      request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
    }));
    const body = JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry });
    expect(await client.send({ method: 'POST', path: '/fhir', body })).toMatchObject({ status: 200 });
  });
  afterAll(async () => {
    client.close();
    await server.end('SIGTERM');
    await database.drop();
  });

  async function send(path: string, count: number): Promise<void> {
    let left = count;
    const sendNext = async (): Promise<void> => {
      while (left-- > 0) expect(await client.send({ method: 'GET', path })).toMatchObject({ status: 200 });
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, sendNext));
  }

  // Each limit is between what a request promotes, 700 and 1,900 bytes, and what it promotes without the flag of
  // `runServer` or with responses that `Drain` keeps: 6,500 bytes and more, 6,800 and more.
  it.each([
    ['read', '/fhir/Patient/p', 2000, 2500],
    ['search', '/fhir/Observation?subject=Patient/p&_count=10', 1000, 4000],
  ])('a repeated %s is not promoted to the old generation', async (_kind, path, count, limit) => {
    await send(path, count);
    const before = scavengesIn(server.output);
    await send(path, count);
    const after = scavengesIn(server.output);
    expect(after.count).toBeGreaterThan(before.count);
    expect((after.promotedBytes - before.promotedBytes) / count).toBeLessThan(limit);
  });
});
