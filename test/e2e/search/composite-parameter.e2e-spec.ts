import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { parameterIdOf } from '../../../src/search-index/extract/hash';
import { idsOn } from '../../support/bundle';
import { putParameter, storeOn, indexesSettled } from '../../support/store';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';

const HL7 = 'http://hl7.org/fhir/SearchParameter';

const part = (name: string, expression: string): object => ({ definition: `${HL7}/${name}`, expression });

const COMPONENTS = {
  type: 'composite',
  base: ['Observation'],
  expression: 'Observation.component',
  component: [
    part('Observation-component-code', 'code'),
    part('Observation-component-value-quantity', 'value.as(Quantity)'),
  ],
};

interface Measured {
  readonly system: string;
  readonly code: string;
  readonly value: number;
}

const measured = (system: string, code: string, value: number): Measured => ({ system, code, value });

const observation = (id: string, values: readonly Measured[]): object => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { text: 'panel' },
  component: values.map(({ system, code, value }) => ({
    code: { coding: [{ system: `http://${system}.example`, code }] },
    valueQuantity: { value },
  })),
});

/**
 * Stored components, many with equal systems, codes or values, so that a row of the wrong component would be noticed.
 */
const STORED: ReadonlyMap<string, readonly Measured[]> = new Map(
  Array.from({ length: 48 }, (_, index) => [
    `panel-${index}`,
    [
      measured(index % 2 === 0 ? 'a' : 'b', index % 3 === 0 ? 'x' : 'y', index % 5),
      measured(index % 7 === 0 ? 'a' : 'b', index % 4 === 0 ? 'x' : 'y', index % 6),
    ],
  ]),
);

const COMPARED: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  '': (value, limit) => value === limit,
  gt: (value, limit) => value > limit,
  le: (value, limit) => value <= limit,
};

describe('stored composite search parameters', () => {
  let app: TestApp;
  let database: Client;

  beforeAll(async () => {
    app = await startTestApp();
    database = await app.connect();
  });
  afterAll(() => app.close());

  const define = (id: string, members: object = {}, server = app): Promise<Received> =>
    putParameter(server, id, { ...COMPONENTS, ...members });

  const store = (resource: object, server = app): Promise<void> => storeOn(server, resource);

  /** Waits until the index jobs of the SearchParameter have ended. */
  const settled = (id: string): Promise<true> => indexesSettled(database, id);

  const defined = async (id: string, members: object = {}, server = app): Promise<void> => {
    const { status, text } = await define(id, members, server);
    if (status > 201) throw new Error(text);
    await settled(id);
  };

  const idsOf = (query: string, server = app): Promise<string[]> => idsOn(server, `/fhir/${query}`);

  const rowsOf = async (table: string, code: string): Promise<number> => {
    const id = parameterIdOf('Observation', code);
    const { rows } = await database.query(`select from ${table} where parameter_id = $1`, [id]);
    return rows.length;
  };

  describe('over repeated items', () => {
    beforeAll(async () => {
      const entries = [...STORED];
      for (const [id, values] of entries.slice(0, 40)) await store(observation(id, values));
      await defined('pair');
      for (const [id, values] of entries.slice(40)) await store(observation(id, values));
    });

    const queries = ['x', 'y', 'z'].flatMap((code) =>
      ['', 'http://a.example|', 'http://b.example|', 'http://c.example|', '|'].flatMap((system) =>
        Object.keys(COMPARED).flatMap((prefix) => [0, 3, 5].map((limit) => ({ system, code, prefix, limit }))),
      ),
    );

    it('find exactly the resources with both values in one item, stored before and after', async () => {
      expect(queries.length).toBeGreaterThan(100);
      for (const { system, code, prefix, limit } of queries) {
        const found = await idsOf(`Observation?pair=${system}${code}$${prefix}${limit}`);
        const expected = [...STORED].filter(([, values]) =>
          values.some(
            (one) =>
              one.code === code &&
              (system === '' || system === `http://${one.system}.example|`) &&
              COMPARED[prefix]?.(one.value, limit) === true,
          ),
        );
        expect([system, code, prefix, limit, found]).toEqual([
          ...[system, code, prefix, limit],
          expected.map(([id]) => id).sort(),
        ]);
      }
    });

    it('H1: index earlier resources even with more pairs than a write may have', async () => {
      const codings = (of: string): object[] =>
        Array.from({ length: 130 }, (_one, number) => ({ system: 'http://a.example', code: `${of}-${number}` }));
      const many = {
        resourceType: 'Observation',
        id: 'many',
        status: 'final',
        code: { coding: codings('c') },
        valueCodeableConcept: { coding: codings('v') },
      };
      await store(many);
      await defined('twice', {
        expression: 'Observation',
        component: [part('clinical-code', 'code'), part('Observation-value-concept', 'value.as(CodeableConcept)')],
      });
      expect(await idsOf('Observation?twice=c-129$v-129')).toEqual(['many']);
      expect((await app.put('/Observation/many', { ...many, language: 'de' })).status).toBe(422);
      await app.delete('/SearchParameter/twice');
      await settled('twice');
    });

    it('use the system that R4 implies for an element of type code', async () => {
      await defined('relation', {
        base: ['Person'],
        expression: 'Person',
        component: [part('individual-gender', 'gender'), part('Person-organization', 'managingOrganization')],
      });
      await store({
        resourceType: 'Person',
        id: 'implied',
        gender: 'female',
        managingOrganization: { reference: 'Organization/o1' },
      });
      const system = 'http://hl7.org/fhir/administrative-gender|';
      for (const sent of ['', '|', system])
        expect(await idsOf(`Person?relation=${sent}female$Organization/o1`)).toEqual(['implied']);
      expect(await idsOf('Person?relation=http://a.example|female$Organization/o1')).toEqual([]);
    });

    it('accept alternatives, and combine with other conditions', async () => {
      await store(observation('alone', [measured('q', 'only', 1), measured('q', 'other', 2)]));
      expect(await idsOf('Observation?pair=only$2,other$2')).toEqual(['alone']);
      expect(await idsOf('Observation?pair=only$1&pair=other$2')).toEqual(['alone']);
      expect(await idsOf('Observation?pair=only$1&pair=other$1')).toEqual([]);
    });

    it('follow updates and deletes', async () => {
      await store(observation('moved', [measured('q', 'moving', 1)]));
      expect(await idsOf('Observation?pair=http://q.example|moving$1')).toEqual(['moved']);
      await store(observation('moved', [measured('r', 'moving', 1)]));
      expect(await idsOf('Observation?pair=http://q.example|moving$1')).toEqual([]);
      expect(await idsOf('Observation?pair=moving$1')).toEqual(['moved']);
      await app.delete('/Observation/moved');
      expect(await idsOf('Observation?pair=moving$1')).toEqual([]);
    });

    it.each(['x', 'x$', '$1', 'x$1$2', 'x$much', 'http://a.example|$1'])('refuse the value %s', async (value) => {
      expect((await app.get(`/fhir/Observation?pair=${value}`)).status).toBe(400);
    });

    it('are unknown after they are retired or deleted, and leave no index rows behind', async () => {
      for (const end of [() => define('gone', { status: 'retired' }), () => app.delete('/SearchParameter/gone')]) {
        await defined('gone');
        expect(await rowsOf('search_number', 'gone')).toBeGreaterThan(0);
        await end();
        expect((await app.get('/Observation?gone=x$1')).status).toBe(400);
        await settled('gone');
        expect(await rowsOf('search_number', 'gone')).toBe(0);
      }
    });

    it('find no pairs of earlier components', async () => {
      const twofold = observation('twofold', [measured('q', 'twofold', 1)]) as { component: object[] };
      await store({ ...twofold, code: { coding: [{ code: 'whole' }] }, valueQuantity: { value: 7 } });
      await defined('changing');
      expect(await idsOf('Observation?changing=twofold$1')).toEqual(['twofold']);
      await defined('changing', {
        expression: 'Observation',
        component: [part('clinical-code', 'code'), part('Observation-value-quantity', 'value.as(Quantity)')],
      });
      expect(await idsOf('Observation?changing=whole$7')).toEqual(['twofold']);
      expect(await idsOf('Observation?changing=twofold$1')).toEqual([]);
      await defined('changing', {
        expression: 'Observation',
        component: [
          part('clinical-code', 'code'),
          part('Observation-combo-value-quantity', 'component.value.as(Quantity)'),
        ],
      });
      expect(await idsOf('Observation?changing=whole$7')).toEqual([]);
      expect(await idsOf('Observation?changing=whole$1')).toEqual(['twofold']);
      // HL7's own composites are unchanged.
      expect(await idsOf('Observation?code-value-quantity=whole$7')).toEqual(['twofold']);
      expect(await idsOf('Observation?code=whole&value-quantity=7')).toEqual(['twofold']);
    });
  });

  it('pair a token with a reference', async () => {
    const component = [part('Encounter-participant-type', 'type'), part('Encounter-participant', 'individual')];
    const participants = [
      ['ATND', 'Practitioner/p1'],
      ['REF', 'Practitioner/p2'],
    ].map(([code = '', reference = '']) => ({ type: [{ coding: [{ code }] }], individual: { reference } }));
    await store({
      resourceType: 'Encounter',
      id: 'e1',
      status: 'planned',
      class: { code: 'AMB' },
      participant: participants,
    });
    await defined('who', { base: ['Encounter'], expression: 'Encounter.participant', component });
    expect(await idsOf('Encounter?who=ATND$Practitioner/p1')).toEqual(['e1']);
    expect(await idsOf('Encounter?who=ATND$Practitioner/p2')).toEqual([]);
    expect(await idsOf('Encounter?who=|REF$Practitioner/p2')).toEqual(['e1']);
    expect((await app.get('/Encounter?who=ATND$nobody')).status).toBe(400);
  });

  it('pair strings and dates of the whole resource, without separate rows', async () => {
    const people = [
      ['p1', 'Rivera', '1980-01-01'],
      ['p2', 'Rivera', '1990-01-01'],
      ['p3', 'Ito', '1980-01-01'],
    ];
    for (const [id = '', family, birthDate] of people)
      await store({ resourceType: 'Patient', id, name: [{ family }], birthDate });
    const component = [part('individual-family', 'name.family'), part('individual-birthdate', 'birthDate')];
    await defined('born', { base: ['Patient'], expression: 'Patient', component });
    expect(await idsOf('Patient?born=riv$lt1985')).toEqual(['p1']);
    expect(await idsOf('Patient?born=riv$lt1985,ito$1980')).toEqual(['p1', 'p3']);
    expect(await idsOf('Patient?born=ito$gt1985')).toEqual([]);
    await app.delete('/SearchParameter/born');
    expect((await app.get('/Patient?born=riv$lt1985')).status).toBe(400);
  });

  it('carry a warning while their index is built', async () => {
    await store(observation('held', [measured('q', 'held', 1)]));
    await database.query('begin');
    await database.query(`select from resource where type = 'Observation' and id = 'held' for update`);
    await define('slow');
    const answer = await app.get('/fhir/Observation?slow=held$1');
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('index of Observation.slow')]);
    await database.query('rollback');
    await settled('slow');
    expect(await idsOf('Observation?slow=held$1')).toEqual(['held']);
  });

  it('apply to the next search and write of another server', async () => {
    const other = await startTestApp({ databaseUrl: app.databaseUrl });
    await store(observation('near', [measured('q', 'near', 1)]), other);
    await defined('both');
    await store(observation('far', [measured('q', 'far', 1)]), other);
    expect(await idsOf('Observation?both=http://q.example|near$1', other)).toEqual(['near']);
    expect(await idsOf('Observation?both=http://q.example|far$1')).toEqual(['far']);
    await app.delete('/SearchParameter/both');
    expect((await other.get('/Observation?both=near$1')).status).toBe(400);
    await store(observation('far', [measured('q', 'farther', 1)]), other);
    await settled('both');
    expect(await rowsOf('search_number', 'both')).toBe(0);
    await other.close();
  });

  it('have exactly the rows of the stored resources, after writes on two servers during changes', async () => {
    const other = await startTestApp({ databaseUrl: app.databaseUrl });
    let isOver = false;
    const write = async (server: TestApp, offset: number): Promise<void> => {
      for (let round = offset; !isOver; round += 7)
        await store(observation(`storm-${round % 12}`, [measured('storm', `s${round % 3}`, round % 5)]), server);
    };
    const writing = [write(app, 1), write(other, 2)];
    try {
      for (let round = 0; round < 3; round++) {
        await define('storm');
        if (round % 2 === 0) await settled('storm');
        await app.delete('/SearchParameter/storm');
      }
      await defined('storm', {}, other);
    } finally {
      isOver = true;
      await Promise.all(writing);
    }
    for (const code of ['s0', 's1', 's2'])
      for (const value of [0, 1, 2, 3, 4]) {
        const { rows } = await database.query<{ id: string }>(
          `select id from resource where type = 'Observation' and body::jsonb @> $1::jsonb order by id`,
          [JSON.stringify({ component: [{ code: { coding: [{ code }] }, valueQuantity: { value } }] })],
        );
        expect(await idsOf(`Observation?storm=http://storm.example|${code}$${value}`)).toEqual(
          rows.map(({ id }) => id).sort(),
        );
      }
    await other.close();
  });

  describe('are refused', () => {
    const [code, value] = COMPONENTS.component;
    const own = { definition: 'http://ward.example/SearchParameter/race', expression: 'code' };

    it.each([
      ['no components', { component: undefined }, 'component must have two parts'],
      ['one component', { component: [code] }, 'component must have two parts'],
      ['three components', { component: [code, value, value] }, 'component must have two parts'],
      [
        'a component with a parameter that is not of HL7',
        { component: [code, own] },
        'component[1].definition names http://ward.example',
      ],
      [
        'a component with an unknown HL7 parameter',
        { component: [part('nothing', 'code'), value] },
        'component[0].definition',
      ],
      [
        'a component with another version',
        { component: [part('clinical-code|3.0', 'code'), value] },
        'component[0].def',
      ],
      [
        'a component with a parameter of another type',
        { component: [part('individual-family', 'name'), value] },
        'component[0].definition',
      ],
      [
        'a composite component',
        { component: [code, part('Observation-code-value-date', 'code')] },
        'component[1].definit',
      ],
      [
        'a component without an index',
        { component: [code, part('Resource-id', 'id')] },
        'component[1].definition names _id',
      ],
      [
        'a component whose expression does not parse',
        { component: [part('clinical-code', 'code['), value] },
        'component[0].expression',
      ],
      [
        'a component with an unknown element',
        { component: [part('clinical-code', 'codes'), value] },
        'component[0].expression',
      ],
      [
        'a component with an element of another kind',
        { component: [part('clinical-code', 'code'), value] },
        'component[0].expression',
      ],
      [
        'a component with a value of another kind',
        { component: [code, part('clinical-code', 'value')] },
        'component[1].expression',
      ],
      ['a quantity before a code', { component: [value, code] }, 'component cannot be indexed for Observation'],
      [
        'fewer dates than the parameter has',
        {
          expression: 'Observation',
          component: [part('clinical-code', 'code'), part('clinical-date', 'effective.as(Period)')],
        },
        'component[1].expression must lead to all values of Observation.date',
      ],
      ['an expression that does not compile', { expression: 'Observation.part' }, 'expression'],
      ['an HL7 code with another expression', { code: 'code-value-quantity' }, 'code is taken'],
      ['a reference target', { target: ['Patient'] }, 'target'],
    ])('with %s', async (_what, members, text) => {
      const answer = await define('refused', members);
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(`SearchParameter.${text}`)]);
      expect((await app.get('/SearchParameter/refused')).status).toBe(404);
    });
  });
});
