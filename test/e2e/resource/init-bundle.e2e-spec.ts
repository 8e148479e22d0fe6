import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { type TestApp, startTestApp } from '../../../testing/test-app';

const client = { resourceType: 'Client', id: 'from-file', grant_types: ['basic'], secret: 'secret of the file' };
const organization = { resourceType: 'Organization', identifier: [{ system: 's', value: 'init' }] };
const entries = [
  { resource: client, request: { method: 'PUT', url: 'Client/from-file' } },
  { resource: organization, request: { method: 'POST', url: 'Organization', ifNoneExist: 'identifier=s|init' } },
];
const wrong = { resource: { engine: 'none' }, request: { method: 'PUT', url: 'AccessPolicy/x' } };

describe('SVC_INIT_BUNDLE', () => {
  let folder: string;
  let database: ClonedDatabase;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-init-'));
    database = await cloneDatabase();
  });
  afterAll(async () => {
    await database.drop();
    await rm(folder, { recursive: true });
  });

  async function start(name: string, content: object | string): Promise<TestApp> {
    const file = join(folder, name);
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return startTestApp({ databaseUrl: database.url, environment: { SVC_INIT_BUNDLE: file } });
  }
  const bundle = (type: string, ...entry: object[]): object => ({ resourceType: 'Bundle', type, entry });

  it.each(['transaction', 'batch'])('stores the entries of a %s, and nothing more at the next start', async (type) => {
    for (let starts = 1; starts <= 2; starts++) {
      const app = await start(`${type}.json`, bundle(type, ...entries));
      try {
        const { meta } = (await app.get('/fhir/Client/from-file')).json<{ meta: { versionId: string } }>();
        const found = (await app.get('/fhir/Organization?identifier=s|init')).json<{ total: number }>();
        expect([meta.versionId, found.total]).toEqual(['1', 1]);
      } finally {
        await app.close();
      }
    }
  });

  it('stores the resources of a collection', async () => {
    const app = await start(
      'collection.json',
      bundle('collection', { resource: { resourceType: 'Basic', id: 'c1', code: { text: 'x' } } }),
    );
    try {
      expect((await app.get('/fhir/Basic/c1')).status).toBe(200);
    } finally {
      await app.close();
    }
  });

  it.each<[string, object | string, string]>([
    [
      'an entry that breaks a rule',
      bundle('transaction', ...entries, wrong),
      'Bundle.entry[2]: AccessPolicy.engine must be',
    ],
    [
      'a batch entry that breaks a rule',
      bundle('batch', ...entries, wrong),
      'Bundle.entry[2]: AccessPolicy.engine must be',
    ],
    [
      'a read',
      bundle('transaction', { request: { method: 'GET', url: 'Patient/1' } }),
      'Bundle.entry[0]: This Bundle can only write.',
    ],
    ['another resource', { resourceType: 'Patient' }, 'Send a Bundle'],
    ['broken JSON', '{"resourceType"', 'Malformed JSON'],
  ])('stops the start at %s, and names file, entry and reason', async (_what, content, reason) => {
    await expect(start('wrong.json', content)).rejects.toThrow(
      `SVC_INIT_BUNDLE ${join(folder, 'wrong.json')}: ${reason}`,
    );
  });

  it('stops the start if the file is missing', async () => {
    const environment = { SVC_INIT_BUNDLE: join(folder, 'none.json') };
    await expect(startTestApp({ databaseUrl: database.url, environment })).rejects.toThrow('none.json: ENOENT');
  });
});
