import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type HashKey } from '../../../src/search-index/extract/half-siphash';
import { parameterIdOf } from '../../../src/search-index/extract/hash';
import { RowHashes } from '../../../src/search-index/extract/row-hashes';
import { type Bundle } from '../../support/bundle';
import { cloneDatabase, type ClonedDatabase } from '../../../testing/test-databases';
import { startTestApp, type TestApp } from '../../../testing/test-app';

const LOINC = 'http://loinc.org';

interface World {
  readonly name: string;
  readonly key: HashKey;
  readonly database: ClonedDatabase;
  readonly app: TestApp;
}

const keyed = (key: HashKey) => async (client: Client) => {
  await client.query('update search_hash_key set low = $1, high = $2', [key.low, key.high]);
};

async function onDatabase<T>({ url }: ClonedDatabase, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Both applications store resources under the same ids and codes, so that a mix-up would be noticed. */
async function fill({ name, app }: Pick<World, 'name' | 'app'>): Promise<void> {
  await app.put('/fhir/Patient/p', { name: [{ family: name }], identifier: [{ system: 'urn:mrn', value: '7' }] });
  await app.put('/fhir/Observation/o', {
    status: 'final',
    code: { coding: [{ system: LOINC, code: '8480-6' }], text: name },
    subject: { reference: 'Patient/p' },
    valueQuantity: { value: 107, system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
  });
  await app.put('/fhir/ValueSet/v', {
    status: 'active',
    url: 'http://clinic.example/pressures',
    compose: { include: [{ system: LOINC, concept: [{ code: '8480-6' }] }] },
  });
}

describe('H9: two applications on two databases in one process', () => {
  const worlds: World[] = [];

  beforeAll(async () => {
    for (const [name, key] of [
      ['first', { low: 11, high: 12 }],
      ['second', { low: 21, high: 22 }],
    ] as const) {
      const database = await cloneDatabase();
      await onDatabase(database, keyed(key));
      const app = await startTestApp({ databaseUrl: database.url });
      worlds.push({ name, key, database, app });
      await fill({ name, app });
    }
  }, 120_000);
  afterAll(async () => {
    for (const { app, database } of worlds) {
      await app.close();
      await database.drop();
    }
  });

  it.each([
    ['a token', 'Observation?code=8480-6'],
    ['a token and its system', `Observation?code=${LOINC}|8480-6`],
    ['a reference', 'Observation?subject=Patient/p'],
    ['a quantity', 'Observation?value-quantity=107|http://unitsofmeasure.org|mm[Hg]'],
    ['a composite', 'Observation?code-value-quantity=8480-6$107'],
    ['a chain', 'Observation?subject:Patient.identifier=urn:mrn|7'],
    ['the codes of a stored ValueSet', 'Observation?code:in=http://clinic.example/pressures'],
    ['a filter', 'Observation?_filter=code eq 8480-6'],
  ])('each find only their own resources by %s', async (_by, search) => {
    const found: string[] = [];
    for (const { app } of worlds) {
      const answer = await app.get(`/fhir/${encodeURI(search)}`);
      const { entry } = answer.json<Bundle<{ resource: { code: { text: string } } }>>();
      found.push(entry.map(({ resource }) => resource.code.text).join());
    }
    expect(found).toEqual(['first', 'second']);
  });

  it('find no text of the other database', async () => {
    const totals = await Promise.all(
      worlds.flatMap(({ app }) =>
        worlds.map(async ({ name }) => (await app.get(`/fhir/Patient?family=${name}`)).json<Bundle>().total),
      ),
    );
    expect(totals).toEqual([1, 0, 0, 1]);
  });

  it('write index rows with the key of their own database', async () => {
    const parameter = parameterIdOf('Observation', 'code');
    for (const { key, database } of worlds) {
      const hash = new RowHashes(key).ofToken(parameter, '8480-6');
      const { rows } = await onDatabase(database, (client) =>
        client.query<{ id: string }>(
          'select id from search_token join resource using (resource_key) where token_hash = $1',
          [hash],
        ),
      );
      expect(rows).toEqual([{ id: 'o' }]);
    }
  });
});
