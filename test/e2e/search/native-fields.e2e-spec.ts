import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { idsOf, searchOn } from '../../support/bundle';
import { eventually } from '../../../testing/eventually';
import { startTestApp, type TestApp } from '../../../testing/test-app';

/**
 * The fields of the server's own types, copied from the interface specification and not from the code. Each row has a
 * type, a field, a value, and the search that has to find the value.
 */
const NAMED: readonly (readonly [type: string, field: string, value: unknown, search: string])[] = [
  ...['SDCDocument', 'SDCWorkflow'].flatMap((type) => [
    [type, 'type', 'clinic.forms/Vitals', 'type=clinic.forms/Vitals'] as const,
    [type, 'status', 'amended', 'status=amended'] as const,
    [type, 'patient', { resourceType: 'Patient', id: 'p7' }, 'patient=Patient/p7'] as const,
    [type, 'encounter', { resourceType: 'Encounter', id: 'e7' }, 'encounter=Encounter/e7'] as const,
    [type, 'author', { resourceType: 'User', id: 'u7' }, 'author=User/u7'] as const,
  ]),
  ['SDCWorkflow', 'ctx.patient', { resourceType: 'Patient', id: 'p8' }, 'patient=Patient/p8'],
  ['SDCWorkflow', 'ctx.encounter', { resourceType: 'Encounter', id: 'e8' }, 'encounter=Encounter/e8'],
  ['Client', 'grant_types', ['password'], 'grant-type=password'],
  ['Client', 'active', false, 'active=false'],
  ['User', 'userName', 'nurse-7', 'userName=nurse-7'],
  ['User', 'email', 'nurse@clinic.example', 'email=nurse@clinic.example'],
  ['User', 'inactive', true, 'inactive=true'],
];

/** Whether a parameter belongs to all resource types. */
const isGeneral = (code: string): boolean => code.startsWith('_');

const bodyOf = (field: string, value: unknown): Record<string, unknown> =>
  field
    .split('.')
    .reduceRight<Record<string, unknown>>(
      (inner, name, index, { length }) => ({ [name]: index === length - 1 ? value : inner }),
      {},
    );

describe('D6: the fields of native types in the interface', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it.each(NAMED)('D6: %s.%s is found by its search parameter', async (type, field, value, search) => {
    const id = `field-${field.replace('.', '-').replace('_', '-')}`;
    const stored = await app.put(`/${type}/${id}`, bodyOf(field, value));
    expect([stored.status, stored.text]).toEqual([201, expect.any(String)]);
    const code = search.split('=')[0] ?? '';
    expect(idsOf(await searchOn(app, `/${type}?${search}`))).toContain(id);
    expect(idsOf(await searchOn(app, `/${type}?${code}:missing=false`))).toContain(id);
  });

  it('D6: every search parameter of these types has a field', async () => {
    const { rest } = (await app.get('/metadata')).json<{
      rest: { resource: { type: string; searchParam?: { name: string }[] }[] }[];
    }>();
    for (const type of new Set(NAMED.map(([named]) => named))) {
      const codes = rest[0]?.resource.find((one) => one.type === type)?.searchParam?.map(({ name }) => name) ?? [];
      const found = NAMED.flatMap(([named, , , search]) => (named === type ? [search.split('=')[0]] : []));
      expect([type, codes.filter((code) => !isGeneral(code)).sort()]).toEqual([type, [...new Set(found)].sort()]);
    }
  });

  it.each(['patient', 'ctx.patient'])('D6: a workflow belongs to the compartment of its %s', async (field) => {
    const [patient, id] = [`of-${field.replace('.', '-')}`, `flow-${field.replace('.', '-')}`];
    await app.put(`/fhir/Patient/${patient}`, {});
    await app.put(`/SDCWorkflow/${id}`, bodyOf(field, { resourceType: 'Patient', id: patient }));
    expect(idsOf(await searchOn(app, `/fhir/Patient/${patient}/$everything`))).toEqual([patient, id]);
    expect(idsOf(await searchOn(app, `/SDCWorkflow?patient=${patient}&status:missing=true`))).toEqual([id]);
    expect(idsOf(await searchOn(app, `/Patient?_has:SDCWorkflow:patient:_id=${id}`))).toEqual([patient]);
  });

  it('D6: a workflow with two patients belongs to both compartments', async () => {
    for (const id of ['one', 'other']) await app.put(`/fhir/Patient/${id}`, {});
    const [one, other] = ['one', 'other'].map((id) => ({ resourceType: 'Patient', id }));
    await app.put('/SDCWorkflow/two', { status: 'new', patient: one, ctx: { patient: other } });
    for (const id of ['one', 'other']) {
      expect(idsOf(await searchOn(app, `/fhir/Patient/${id}/$everything`))).toEqual([id, 'two']);
      expect(idsOf(await searchOn(app, `/SDCWorkflow?patient=${id}&status=new`))).toEqual(['two']);
      expect(idsOf(await searchOn(app, `/Patient?_has:SDCWorkflow:patient:status=new&_id=${id}`))).toEqual([id]);
    }
  });
});

describe('D6: a database of version 0.1.0', () => {
  let app: TestApp;
  let client: Client;

  beforeAll(async () => {
    app = await startTestApp();
    client = await app.connect();
  });
  afterAll(() => app.close());

  const rowsOf = async (id: string): Promise<number> => {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) from (select resource_key from search_token union all select resource_key from reference_link) s
       where resource_key = (select resource_key from resource_key_of where id = $1)`,
      [id],
    );
    return Number(rows[0]?.count);
  };

  it('D6: has its workflows indexed again after the first start, and updates leave no old rows behind', async () => {
    await app.put('/fhir/Patient/old', {});
    const patient = { resourceType: 'Patient', id: 'old' };
    await app.put('/SDCWorkflow/by-member', { status: 'new', type: 'a/B', patient });
    await app.put('/SDCWorkflow/by-ctx', { status: 'new', type: 'a/B', ctx: { patient } });
    await client.query(
      `create table resource_key_of as select id, resource_key from resource where type = 'SDCWorkflow'`,
    );
    const whole = [await rowsOf('by-member'), await rowsOf('by-ctx')];
    await asVersion010(client);
    const again = await startTestApp({ databaseUrl: app.databaseUrl });
    try {
      await eventually('all is indexed again', async () => {
        const { rows } = await client.query(`select from search_parameter_state where state <> 'active'`);
        return rows.length === 0;
      });
      expect(idsOf(await searchOn(again, '/fhir/Patient/old/$everything')).sort()).toEqual([
        'by-ctx',
        'by-member',
        'old',
      ]);
      expect(idsOf(await searchOn(again, '/SDCWorkflow?patient=old&status=new&type=a/B')).sort()).toEqual([
        'by-ctx',
        'by-member',
      ]);
      expect(idsOf(await searchOn(again, '/SDCWorkflow?patient:missing=true'))).toEqual([]);
      expect([await rowsOf('by-member'), await rowsOf('by-ctx')]).toEqual(whole);
      for (const id of ['by-member', 'by-ctx']) {
        await again.delete(`/SDCWorkflow/${id}`);
        expect(await rowsOf(id)).toBe(0);
      }
    } finally {
      await again.close();
    }
  });
});

/** Restores the rows of workflows as version 0.1.0 wrote them. */
async function asVersion010(client: Client): Promise<void> {
  const keyOf = (id: string): string =>
    `(select resource_key from resource where type = 'SDCWorkflow' and id = '${id}')`;
  await client.query(`delete from reference_link where resource_key = ${keyOf('by-member')}`);
  await client.query(`update resource set present = 2 where type = 'SDCWorkflow' and id = 'by-member'`);
  await client.query(
    `update search_token set patient_hash = (select reference_hash from resource where type = 'Patient' and id = 'old')
     where resource_key = ${keyOf('by-ctx')}`,
  );
  await client.query('delete from search_parameter_state');
  await client.query(`delete from server_setup where name = 'search-index'`);
}
