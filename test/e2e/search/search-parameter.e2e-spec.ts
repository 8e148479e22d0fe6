import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { DataSource } from 'typeorm';
import { parameterIdOf } from '../../../src/search-index/extract/hash';
import { NEXT_STEP } from '../../../src/search-index/states/parameter-state-statements';
import { type Bundle, idsOn, searchOn } from '../../support/bundle';
import { eventually } from '../../../testing/eventually';
import { putParameter } from '../../support/store';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';

const RACE = 'http://ward.example/race';

/** A valid SearchParameter; tests change some members. */
const RACES = { base: ['Patient'], type: 'token', expression: `Patient.extension.where(url = '${RACE}').value` };

const patient = (id: string, race: string, family = 'Rivera'): object => ({
  resourceType: 'Patient',
  id,
  name: [{ family }],
  extension: [{ url: RACE, valueCode: race }],
});

/** A SearchParameter that is no alias of a built-in parameter, since aliases have no rows. */
const CLAN = { type: 'string', expression: 'Patient.name.family | Patient.contact.name.family' };
const BASIC = { base: ['Basic'], type: 'string', expression: 'Basic.language' };

const basic = (id: string, value: string): object => ({
  resourceType: 'Basic',
  id,
  code: { text: `text-${value}` },
  language: value,
});

const KINDS = {
  resourceType: 'Patient',
  id: 'kinds',
  gender: 'male',
  name: [{ family: 'Chalmers', period: { start: '2020-02-01', end: '2020-03-01' } }],
  contact: [{ organization: { reference: 'Organization/o1' } }],
  identifier: [{ system: 'http://a.example', value: '1' }],
  multipleBirthInteger: 3,
  extension: [{ url: 'http://ward.example/mass', valueQuantity: { value: 80, unit: 'kg' } }],
};

interface IndexStatus {
  readonly base: string;
  readonly state: string;
  readonly done: number;
  readonly total: number;
}

/** Required members of the types in this spec. */
const MEDIA = { url: 'http://files.example/1' };
const LINKED = ['source', 'alternate'].map((type) => ({ type, resource: { reference: `Patient/${type}` } }));
const SLOT = {
  schedule: { reference: 'Schedule/s1' },
  status: 'free',
  start: '2026-01-01T10:00:00Z',
  end: '2026-01-01T11:00:00Z',
};

describe('stored SearchParameters', () => {
  let app: TestApp;
  let database: Client;

  beforeAll(async () => {
    app = await startTestApp();
    database = await app.connect();
  });
  afterAll(() => app.close());

  const define = (id: string, members: object = {}, server = app): Promise<Received> =>
    putParameter(server, id, { ...RACES, ...members });

  const statusOf = async (id: string, server = app): Promise<IndexStatus[]> => {
    const { parameter = [] } = (await server.get(`/fhir/SearchParameter/${id}/$index-status`)).json<{
      parameter?: { part: { name: string; valueCode?: string; valueDecimal?: number }[] }[];
    }>();
    return parameter.map(({ part }): IndexStatus => {
      const value = new Map(part.map(({ name, valueCode, valueDecimal }) => [name, valueCode ?? valueDecimal]));
      return {
        base: String(value.get('base')),
        state: String(value.get('state')),
        done: Number(value.get('done')),
        total: Number(value.get('total')),
      };
    });
  };

  /** Waits until the index jobs of the SearchParameter have ended. */
  const settled = (id: string, server = app): Promise<true> =>
    eventually(`the indexes of ${id} are settled`, async () =>
      (await statusOf(id, server)).every(({ state }) => state === 'active'),
    );

  const search = (query: string, server = app): Promise<Bundle> => searchOn(server, `/fhir/${query}`);

  const idsOf = (query: string, server = app): Promise<string[]> => idsOn(server, `/fhir/${query}`);

  const warningsOf = async (query: string): Promise<unknown[]> =>
    (await search(query)).entry.filter(({ search: { mode } }) => mode === 'outcome').map(({ resource }) => resource);

  const hold = async (type: string, id: string): Promise<() => Promise<void>> => {
    await database.query('begin');
    await database.query('select from resource where type = $1 and id = $2 for update', [type, id]);
    return async () => {
      await database.query('rollback');
    };
  };

  it('find resources stored before and after', async () => {
    await app.put('/Patient/old', patient('old', 'martian'));
    expect((await app.get('/Patient?race=martian')).status).toBe(400);
    expect((await define('race')).status).toBe(201);
    await app.put('/Patient/new', patient('new', 'martian'));
    await app.put('/Patient/other', patient('other', 'venusian'));
    await settled('race');
    expect(await idsOf('Patient?race=martian')).toEqual(['new', 'old']);
    expect(await idsOf('Patient?race:missing=true')).toEqual([]);
    expect(await warningsOf('Patient?race=martian')).toEqual([]);
    await app.put('/Patient/new', patient('new', 'venusian'));
    await app.delete('/Patient/other');
    expect(await idsOf('Patient?race=martian')).toEqual(['old']);
    expect(await idsOf('Patient?race=venusian')).toEqual(['new']);
  });

  it('are in the CapabilityStatement', async () => {
    const names = async (): Promise<string[]> => {
      const { rest } = (await app.get('/fhir/metadata')).json<{
        rest: { resource: { type: string; searchParam: { name: string }[] }[] }[];
      }>();
      const found = rest[0]?.resource.find(({ type }) => type === 'Patient');
      return (found?.searchParam ?? []).map(({ name }) => name);
    };
    expect(await names()).not.toContain('shade');
    await define('shade');
    expect(await names()).toContain('shade');
    await app.delete('/SearchParameter/shade');
    expect(await names()).not.toContain('shade');
  });

  it('are unknown after they are retired or deleted, and leave no index rows behind', async () => {
    await app.put('/Patient/retired', patient('retired', 'lunar', 'Solo'));
    const rows = async (): Promise<number> => {
      const id = parameterIdOf('Patient', 'clan');
      const { rows: found } = await database.query('select from search_string where parameter_id = $1', [id]);
      return found.length;
    };
    for (const end of [
      () => define('clan', { ...CLAN, status: 'retired' }),
      () => app.delete('/SearchParameter/clan'),
    ]) {
      await define('clan', CLAN);
      await settled('clan');
      expect(await idsOf('Patient?clan=solo')).toEqual(['retired']);
      expect(await rows()).toBeGreaterThan(0);
      await end();
      expect((await app.get('/Patient?clan=solo')).status).toBe(400);
      await settled('clan');
      expect(await rows()).toBe(0);
    }
  });

  it('find no values of an earlier expression', async () => {
    await app.put('/Patient/twofold', { ...patient('twofold', 'x'), gender: 'female', birthDate: '1999-01-01' });
    await define('facet', { expression: 'Patient.name.family | Patient.gender' });
    await settled('facet');
    expect(await idsOf('Patient?facet=female')).toEqual(['twofold']);
    await define('facet', { expression: 'Patient.name.family | Patient.birthDate', type: 'string', base: ['Patient'] });
    expect((await statusOf('facet')).length).toBeGreaterThan(0);
    await settled('facet');
    await app.delete('/SearchParameter/facet');
    await define('facet', { expression: "Patient.extension.where(url = 'http://ward.example/none').value" });
    await settled('facet');
    expect(await idsOf('Patient?facet=female')).toEqual([]);
    expect(await idsOf('Patient?facet=Rivera')).toEqual([]);
  });

  it.each([
    ['a reference', { base: ['Basic'], type: 'reference', expression: 'Basic.author', target: ['Patient'] }],
    ['a string', BASIC],
    [
      'a composite',
      {
        base: ['Observation'],
        type: 'composite',
        expression: 'Observation',
        component: ['code', 'status'].map((name) => ({
          definition: `http://hl7.org/fhir/SearchParameter/${name === 'code' ? 'clinical-code' : 'Observation-status'}`,
          expression: name,
        })),
      },
    ],
  ])('keep their index if only the description changes: %s', async (what, members) => {
    const version = async (): Promise<unknown> =>
      (await database.query('select version from search_parameter_version')).rows;
    const id = `described-${what.split(' ')[1] ?? ''}`;
    expect((await define(id, members)).status).toBe(201);
    const before = await version();
    expect((await define(id, { ...members, description: 'Another text' })).status).toBe(200);
    expect(await version()).toEqual(before);
    await app.delete(`/SearchParameter/${id}`);
  });

  it.each([
    ['string', { type: 'string', expression: 'Patient.name.family' }, 'family=chal', ['kinds']],
    ['date', { type: 'date', expression: 'Patient.name.period' }, 'period=2020', ['kinds']],
    ['reference', { type: 'reference', expression: 'Patient.contact.organization' }, 'org=Organization/o1', ['kinds']],
    ['uri', { type: 'uri', expression: 'Patient.identifier.system' }, 'system=http://a.example', ['kinds']],
    ['number', { type: 'number', expression: 'Patient.multipleBirth.ofType(integer)' }, 'order=gt2', ['kinds']],
    [
      'quantity',
      { type: 'quantity', expression: "Patient.extension('http://ward.example/mass')" },
      'mass=80',
      ['kinds'],
    ],
    ['an alias', { type: 'token', expression: 'Patient.gender' }, 'sex=male', ['kinds']],
  ])('are indexed by %s', async (_kind, members, query, expected) => {
    const id = `kind-${query.split('=')[0] ?? ''}`;
    await app.put('/Patient/kinds', KINDS);
    expect((await define(id, members)).status).toBe(201);
    await settled(id);
    const [, value = ''] = query.split('=');
    expect(await idsOf(`Patient?${id}=${value}`)).toEqual(expected);
    expect(await idsOf(`Patient?${id}:missing=false&_id=kinds`)).toEqual(expected);
  });

  it('do not change built-in parameters', async () => {
    expect((await define('created', { type: 'date', expression: 'Patient.birthDate', code: 'created' })).status).toBe(
      201,
    );
    await settled('created');
    await app.put('/Patient/born', { ...patient('born', 'x'), birthDate: '1950-01-01' });
    const { rows } = await database.query<{ main_date: Date }>(
      `select main_date from resource where type = 'Patient' and id = 'born'`,
    );
    expect(rows[0]?.main_date.getFullYear()).toBeGreaterThan(2000);
    expect(await idsOf('Patient?gender:missing=true&_id=born')).toEqual(['born']);
  });

  it('report the progress of their index build', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await app.put(`/Basic/${id}`, basic(id, `val-${id}`));
    const release = await hold('Basic', 'c');
    await define('held', BASIC);
    await eventually('two are done', async () => (await statusOf('held'))[0]?.done === 2);
    expect(await statusOf('held')).toEqual([{ base: 'Basic', state: 'building', done: 2, total: 4 }]);
    for (const query of [
      'Basic?held=val-a',
      'Basic?_sort=held',
      'Basic?_filter=held eq val-a',
      'Patient?_has:Basic:subject:held=x',
    ])
      expect(await warningsOf(query)).toEqual([
        {
          resourceType: 'OperationOutcome',
          issue: [
            {
              severity: 'warning',
              code: 'incomplete',
              diagnostics: expect.stringMatching(/the index of Basic\.held was still being built: 50 % are done/),
            },
          ],
        },
      ]);
    expect(await warningsOf('Basic?code=x')).toEqual([]);
    // A condition with an incomplete index must not create a resource that may exist.
    const conditional = await app.post('/Basic?held=val-d', { resourceType: 'Basic', code: { text: 'twice' } });
    expect([conditional.status, conditional.headers.get('retry-after')]).toEqual([503, '10']);

    // Changes and deletions before and after the position of the job.
    await app.put('/Basic/a', basic('a', 'changed-a'));
    await app.delete('/Basic/b');
    await app.put('/Basic/d', basic('d', 'changed-d'));
    await app.put('/Basic/bb', basic('bb', 'val-bb'));
    await app.put('/Basic/e', basic('e', 'val-e'));
    await release();
    await settled('held');
    expect(await stringsOf('Basic', 'held')).toEqual(['changed-a', 'changed-d', 'val-bb', 'val-c', 'val-e']);
    expect(await idsOf('Basic?held=changed')).toEqual(['a', 'd']);
    expect(await warningsOf('Basic?held=changed')).toEqual([]);
  });

  it('are removed completely, even during concurrent writes', async () => {
    await app.put('/Basic/c', basic('c', 'val-c'));
    const release = await hold('Basic', 'c');
    await app.delete('/SearchParameter/held');
    await eventually('some are removed', async () => ((await statusOf('held'))[0]?.done ?? 0) > 0);
    expect((await app.get('/Basic?held=x')).status).toBe(400);
    await define('held', { ...BASIC, expression: 'Basic.code.text' });
    await app.put('/Basic/a', basic('a', 'again-a'));
    await app.put('/Basic/d', basic('d', 'again-d'));
    await app.delete('/Basic/e');
    expect((await statusOf('held')).map(({ state }) => state)).toEqual(['building']);
    await release();
    await settled('held');
    expect(await stringsOf('Basic', 'held')).toEqual(['text-again-a', 'text-again-d', 'text-val-bb', 'text-val-c']);
  });

  it('wait for transactions that write with older parameters', async () => {
    await database.query('begin');
    await database.query(
      `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       values (-1, now(), now(), -1, 1, 'Flag', 'late', 'PUT', '{"resourceType":"Flag","id":"late","language":"de"}')`,
    );
    await define('tongue', { base: ['Flag'], expression: 'Flag.language' });
    await eventually('the job has begun', async () => {
      const found = await app.app
        .get(DataSource)
        .query<{ writers: string[] | null }[]>(`select writers from search_parameter_state where code = 'tongue'`);
      return found[0]?.writers?.length === 1;
    });
    expect(await statusOf('tongue')).toMatchObject([{ state: 'building', done: 0 }]);
    await database.query('commit');
    await settled('tongue');
    expect(await idsOf('Flag?tongue=de')).toEqual(['late']);
  });

  it('continue their index build after a server stopped', async () => {
    for (const id of ['l1', 'l2', 'l3'])
      await app.put(`/Linkage/${id}`, { resourceType: 'Linkage', id, language: 'fr', item: LINKED });
    const release = await hold('Linkage', 'l3');
    const first = await startTestApp({ databaseUrl: app.databaseUrl });
    await define('lingo', { base: ['Linkage'], expression: 'Linkage.language' }, first);
    await eventually('two are done', async () => (await statusOf('lingo', first))[0]?.done === 2);
    await first.close();
    const second = await startTestApp({ databaseUrl: app.databaseUrl });
    expect(await statusOf('lingo', second)).toMatchObject([{ state: 'building', done: 2, total: 3 }]);
    await release();
    await settled('lingo', second);
    expect(await statusOf('lingo', second)).toMatchObject([{ state: 'active', done: 3, total: 3 }]);
    expect(await idsOf('Linkage?lingo=fr', second)).toEqual(['l1', 'l2', 'l3']);
    await second.close();
  });

  it('leave no work behind when they are complete', async () => {
    await database.query('begin');
    await database.query(`update search_parameter_state set state = 'active'`);
    expect((await database.query(NEXT_STEP.text)).rows).toEqual([]);
    await database.query('rollback');
  });

  describe('on another server', () => {
    let other: TestApp;

    beforeAll(async () => {
      other = await startTestApp({ databaseUrl: app.databaseUrl });
    });
    afterAll(() => other.close());

    it('apply to its next search', async () => {
      await define('elsewhere', { base: ['Group'], expression: 'Group.language' });
      expect((await other.get('/Group?elsewhere=de')).status).toBe(200);
      await app.delete('/SearchParameter/elsewhere');
      expect((await other.get('/Group?elsewhere=de')).status).toBe(400);
    });

    it('apply to its next write, even before it received the change', async () => {
      await other.put('/Media/before', {
        resourceType: 'Media',
        id: 'before',
        status: 'completed',
        content: MEDIA,
        language: 'de',
      });
      await define('speech', { base: ['Media'], expression: 'Media.language' });
      await settled('speech');
      const created = await other.post('/Media', {
        resourceType: 'Media',
        status: 'completed',
        content: MEDIA,
        language: 'de',
      });
      expect(created.status).toBe(201);
      expect((await idsOf('Media?speech=de')).length).toBe(2);

      await define('speech2', { base: ['Media'], expression: 'Media.language' });
      await settled('speech2');
      await other.put('/Media/before', {
        resourceType: 'Media',
        id: 'before',
        status: 'completed',
        content: MEDIA,
        language: 'fr',
      });
      expect(await idsOf('Media?speech2=fr')).toEqual(['before']);
      expect((await idsOf('Media?speech2=de')).length).toBe(1);

      await app.delete('/SearchParameter/speech2');
      await other.put('/Media/before', {
        resourceType: 'Media',
        id: 'before',
        status: 'completed',
        content: MEDIA,
        language: 'it',
      });
      await settled('speech2');
      await define('speech2', { base: ['Media'], expression: 'Media.language' });
      await settled('speech2');
      expect(await idsOf('Media?speech2=it')).toEqual(['before']);
      expect(await idsOf('Media?speech2=fr')).toEqual([]);
    });
  });

  it('have exactly the rows of the stored resources, after writes on two servers during changes', async () => {
    const other = await startTestApp({ databaseUrl: app.databaseUrl });
    const ids = Array.from({ length: 24 }, (_, index) => `storm-${index}`);
    let isOver = false;
    const write = async (server: TestApp, offset: number): Promise<void> => {
      for (let round = offset; !isOver; round += 7) {
        const id = ids[round % ids.length] ?? '';
        // Values repeat, so that an update often keeps some rows.
        const body = { resourceType: 'Slot', id, ...SLOT, language: `l${round % 3}`, comment: `c${round % 5}` };
        const { status } =
          round % 11 === 0 ? await server.delete(`/Slot/${id}`) : await server.put(`/Slot/${id}`, body);
        expect([200, 201, 204]).toContain(status);
      }
    };
    const writing = [write(app, 1), write(other, 2), write(app, 3), write(other, 4)];
    const storm = (expression: string): object => ({ base: ['Slot'], type: 'string', expression });
    try {
      for (let round = 0; round < 4; round++) {
        await define('storm', storm('Slot.language | Slot.comment'));
        if (round % 2 === 0) await settled('storm');
        await define('storm', storm('Slot.comment'), other);
        if (round % 2 === 1) await settled('storm');
        await app.delete('/SearchParameter/storm');
      }
      await define('storm', storm('Slot.language | Slot.comment'), other);
      await settled('storm');
    } finally {
      isOver = true;
      await Promise.all(writing);
    }
    const { rows } = await database.query<{ body: string }>(`select body from resource where type = 'Slot'`);
    const stored = rows.map(({ body }) => JSON.parse(body) as { language: string; comment: string });
    const expected = stored.flatMap(({ language, comment }) => [language, comment]).sort();
    expect(expected.length).toBeGreaterThan(10);
    expect(await stringsOf('Slot', 'storm')).toEqual(expected);
    await other.close();
  });

  describe('are refused', () => {
    it.each([
      ['an HL7 url', { url: 'http://hl7.org/fhir/SearchParameter/individual-gender', code: 'mine' }, 'url'],
      ['no url', { url: undefined }, 'url'],
      ['an unknown status', { status: 'on' }, 'status'],
      ['an HL7 code with another expression', { code: 'name', type: 'string', expression: 'Patient.gender' }, 'code'],
      ['a code of all types', { code: '_tag' }, 'code'],
      ['a code with invalid characters', { code: 'a.b' }, 'code'],
      ['a composite without components', { type: 'composite' }, 'component'],
      ['the type special', { type: 'special' }, 'type'],
      ['an unknown base', { base: ['Patient', 'Spaceship'] }, 'base'],
      ['an abstract base', { base: ['DomainResource'] }, 'base'],
      ['no base', { base: [] }, 'base'],
      ['no expression', { expression: undefined }, 'expression'],
      ['an expression that does not parse', { expression: 'Patient.name[' }, 'expression'],
      ['an expression that does not compile', { expression: 'Patient.nickname' }, 'expression'],
      ['an expression of another type', { expression: 'Observation.code' }, 'expression'],
      ['values of a type that the kind does not index', { type: 'date', expression: 'Patient.name' }, 'expression'],
      ['a function that is not supported', { expression: 'Patient.name.first()' }, 'expression'],
      ['an unknown target', { type: 'reference', expression: 'Patient.link.other', target: ['Spaceship'] }, 'target'],
      ['targets of a parameter that is not a reference', { target: ['Patient'] }, 'target'],
    ])('with %s', async (_what, members, element) => {
      const answer = await define('refused', members);
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(`SearchParameter.${element}`)]);
      expect((await app.get('/SearchParameter/refused')).status).toBe(404);
    });

    it('if the code is in use', async () => {
      await define('taken');
      expect((await define('taken-2', { code: 'taken' })).status).toBe(409);
    });

    it('unless they are inactive, or equal a built-in parameter', async () => {
      expect((await define('draft', { status: 'draft', expression: 'nonsense(' })).status).toBe(201);
      expect((await define('same', { code: 'gender', expression: 'Patient.gender' })).status).toBe(201);
      expect(await statusOf('same')).toEqual([]);
    });

    it('C4.8: unless they equal a built-in parameter of all types', async () => {
      const derivedFrom = 'http://hl7.org/fhir/SearchParameter/Resource-id';
      const stored = await define('own-id', { code: '_id', type: 'token', expression: 'Resource.id', derivedFrom });
      expect([stored.status, await statusOf('own-id')]).toEqual([201, []]);
      expect((await app.get('/Patient?_id=absent')).status).toBe(200);
    });
  });

  /** The indexed texts of a parameter, including duplicates. */
  async function stringsOf(type: string, code: string): Promise<string[]> {
    const { rows } = await database.query<{ value: string }>(
      'select value from search_string where parameter_id = $1 order by 1',
      [parameterIdOf(type, code)],
    );
    return rows.map(({ value }) => value);
  }
});
