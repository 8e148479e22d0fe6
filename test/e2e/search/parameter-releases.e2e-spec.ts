import { Injectable, Module, type Type } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { DefinesResourceType, type OwnResourceType } from '../../../src/model/resource-type';
import { idsOn, searchOn } from '../../support/bundle';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { type Person, login } from '../../../testing/world';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';
import { indexesSettled } from '../../support/store';

type Parameters = NonNullable<OwnResourceType['searchParameters']>;

/** A release of the server whose module defines the type Chore. */
function releaseWith(searchParameters: Parameters, ...more: Type[]): Type {
  @Injectable()
  @DefinesResourceType({ type: 'Chore', searchParameters })
  class ChoreType {}
  @Module({ providers: [ChoreType, ...more] })
  class Release {}
  return Release;
}

const WARD = { code: 'ward', kind: 'token', expression: 'Chore.ward' } as const;
const ROOM = { code: 'room', kind: 'token', expression: 'Chore.room' } as const;
const NEW_ROOM = { ...ROOM, expression: 'Chore.place' } as const;

describe('search parameters of a module, over several releases on one database', () => {
  let database: ClonedDatabase;
  let client: Client;
  let app: TestApp | undefined;

  beforeAll(async () => {
    database = await cloneDatabase('started');
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const start = async (...searchParameters: Parameters): Promise<TestApp> =>
    (app = await startTestApp({ databaseUrl: database.url, modules: [releaseWith(searchParameters)] }));

  const settled = (): Promise<true> => indexesSettled(client);

  const bitsOf = async (): Promise<object> => {
    const { rows } = await client.query<{ bits: object }>(
      `select json_object_agg(code, presence_bit) as bits from search_parameter_state
       where resource_type = 'Chore' and code in ('ward', 'room', 'nurse')`,
    );
    return rows[0]?.bits ?? {};
  };

  /** Runs `work` while the first resource is locked, so that the index job cannot begin. */
  async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
    await client.query('begin');
    await client.query(`select from resource where type = 'Chore' and id = 'a-held' for update`);
    try {
      return await work();
    } finally {
      await client.query('rollback');
    }
  }

  const warningsOf = async (server: TestApp, query: string): Promise<string[]> =>
    (await searchOn(server, `/fhir/Chore?${query}`)).entry
      .filter(({ search }) => search.mode === 'outcome')
      .map(({ resource }) => JSON.stringify(resource));

  describe('in the order of upgrades', () => {
    let nurse: Person;

    const asNurse = (server: TestApp, method: string, path: string, body?: object): Promise<Received> =>
      server.send(method, path, { authorization: nurse.bearer, ...(body === undefined ? {} : { body }) });

    it('H1: release 1 adds the type, and builds no index', async () => {
      const server = await start(WARD);
      await settled();
      nurse = await login(server, 'nurse', { policies: [] });
      for (const id of ['a-held', 'b', 'c'])
        await server.put(`/Chore/${id}`, { ward: 'w1', room: `room-${id}`, place: 'attic' });
      expect(await idsOn(server, '/fhir/Chore?ward=w1')).toEqual(['a-held', 'b', 'c']);
      expect((await server.get('/fhir/Chore?room=room-b')).status).toBe(400);
      expect(await bitsOf()).toEqual({ ward: 4 });
    });

    it('H1: release 2 declares another parameter, which finds stored resources after its index is built, with a warning until then', async () => {
      const server = await whileHeld(async () => {
        const held = await start(ROOM, WARD);
        expect(await warningsOf(held, 'room=room-b')).toEqual([
          expect.stringMatching(/the index of Chore\.room was still being built: 0 % are done/),
        ]);
        expect(await warningsOf(held, 'ward=w1')).toEqual([]);
        expect((await held.get('/fhir/SearchParameter/$index-status')).json()).toMatchObject({
          parameter: [
            {
              part: expect.arrayContaining([
                { name: 'base', valueCode: 'Chore' },
                { name: 'code', valueCode: 'room' },
              ]),
            },
          ],
        });
        // A condition with an incomplete index must not create a resource that may exist.
        expect((await held.put('/fhir/Chore?room=room-b', { ward: 'w2' })).status).toBe(503);
        // Resources written during the build are found at once.
        await held.put('/Chore/c', { ward: 'w1', room: 'room-new', place: 'attic' });
        expect(await idsOn(held, '/fhir/Chore?room=room-new')).toEqual(['c']);
        return held;
      });
      await settled();
      expect(await idsOn(server, '/fhir/Chore?room=room-b')).toEqual(['b']);
      expect(await warningsOf(server, 'room=room-b')).toEqual([]);
      expect(await idsOn(server, '/fhir/Chore?room:missing=true')).toEqual([]);
      // Existing parameters keep their bits in any order of declaration.
      expect(await bitsOf()).toEqual({ ward: 4, room: 5 });
      expect(await idsOn(server, '/fhir/Chore?ward:missing=false')).toHaveLength(3);
    });

    it('H1: release 3 changes the expression: access uses the bodies, and searches wait for the index', async () => {
      const second = await start(ROOM, WARD);
      const link = [{ resourceType: 'User', id: 'nurse' }];
      const policy = await second.put('/AccessPolicy/room-b', { engine: 'allow', link, criteria: 'Chore?room=room-b' });
      expect([policy.status, policy.text]).toEqual([201, expect.any(String)]);
      await second.put('/Chore/d', { ward: 'w1', room: 'elsewhere', place: 'room-b' });
      expect((await asNurse(second, 'GET', '/Chore/b')).status).toBe(200);
      expect((await asNurse(second, 'GET', '/Chore/d')).status).toBe(404);
      await second.close();
      app = undefined;

      const server = await whileHeld(async () => {
        const held = await start(WARD, NEW_ROOM);
        // The stored rows are those of the old definition. By them, b would still belong to the nurse, and d would not.
        expect((await asNurse(held, 'GET', '/Chore/b')).status).toBe(404);
        expect((await asNurse(held, 'GET', '/Chore/b/_history')).json<{ total?: number }>().total ?? 0).toBe(0);
        expect((await asNurse(held, 'GET', '/Chore/b/_history/1')).status).toBe(404);
        expect((await asNurse(held, 'PUT', '/Chore/b', { ward: 'mine' })).status).toBe(403);
        expect((await asNurse(held, 'DELETE', '/Chore/b')).status).toBe(204);
        expect((await asNurse(held, 'GET', '/Chore/d')).status).toBe(200);
        expect((await asNurse(held, 'PUT', '/Chore/d', { ward: 'w9', place: 'room-b' })).status).toBe(200);
        expect((await asNurse(held, 'PUT', '/Chore/d', { ward: 'w9', place: 'not mine' })).status).toBe(403);
        expect((await asNurse(held, 'POST', '/Chore', { ward: 'w1', place: 'room-b' })).status).toBe(201);
        expect((await asNurse(held, 'POST', '/Chore', { ward: 'w1', room: 'room-b' })).status).toBe(403);
        for (const path of ['/fhir/Chore', '/fhir/Chore?ward=w1', '/fhir/Chore/_history']) {
          const answer = await asNurse(held, 'GET', path);
          expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '10']);
        }
        return held;
      });
      await settled();
      expect((await asNurse(server, 'GET', '/Chore/b')).status).toBe(404);
      expect((await asNurse(server, 'GET', '/fhir/Chore')).json<{ total: number }>().total).toBe(2);
      expect(await idsOn(server, '/fhir/Chore?room=attic')).toEqual(['a-held', 'b', 'c']);
      expect(await idsOn(server, '/fhir/Chore?room=room-new')).toEqual([]);
      expect(await bitsOf()).toEqual({ ward: 4, room: 5 });
    });

    it('H1: a changed kind leaves no rows of the old kind', async () => {
      const server = await start(WARD, { ...ROOM, kind: 'uri', expression: 'Chore.place' });
      await settled();
      expect(await idsOn(server, '/fhir/Chore?room=attic')).toEqual(['a-held', 'b', 'c']);
      await server.close();
      const dated = await start(WARD, { ...ROOM, kind: 'date', expression: 'Chore.place' });
      await settled();
      expect(await idsOn(dated, '/fhir/Chore?room=2026')).toEqual([]);
      const { rows } = await client.query(
        `select from search_token s join resource r using (resource_key) where r.type = 'Chore' and r.id = 'b'`,
      );
      expect(rows).toHaveLength(1); // the row of the parameter `ward`; `room` has no token row any more
    });

    it('H1: a removed parameter is unknown, leaves no rows behind, and frees its bit', async () => {
      const server = await start(WARD);
      expect((await server.get('/fhir/Chore?room=attic')).status).toBe(400);
      // Criteria with the vanished parameter grant nothing.
      for (const path of ['/Chore/b', '/Chore/d', '/fhir/Chore'])
        expect([path, (await asNurse(server, 'GET', path)).status]).toEqual([path, 403]);
      await settled();
      expect(await bitsOf()).toEqual({ ward: 4 });
      await server.close();
      const later = await start({ code: 'nurse', kind: 'token', expression: 'Chore.nurse' }, WARD);
      await settled();
      expect(await bitsOf()).toEqual({ ward: 4, nurse: 5 });
      expect(await idsOn(later, '/fhir/Chore?nurse:missing=false')).toEqual([]);
    });

    it('H1: a start with the same parameters changes nothing', async () => {
      const version = async (): Promise<unknown> =>
        (await client.query('select version from search_parameter_version')).rows;
      const before = await version();
      await start({ code: 'nurse', kind: 'token', expression: 'Chore.nurse' }, WARD);
      expect(await version()).toEqual(before);
    });

    it('H1: a stored parameter is rebuilt after the module of its type was missing, with a warning until then', async () => {
      const parameter = {
        ...{ resourceType: 'SearchParameter', url: 'http://svc.example/place', name: 'place', description: 'x' },
        ...{ status: 'active', code: 'place', base: ['Chore'], type: 'token', expression: 'Chore.place' },
      };
      const server = await start(WARD);
      expect((await server.put('/fhir/SearchParameter/place', parameter)).status).toBe(201);
      await settled();
      const found = await idsOn(server, '/fhir/Chore?place=attic');
      expect(found.length).toBeGreaterThan(0);
      await server.close();
      app = await startTestApp({ databaseUrl: database.url });
      await settled();
      expect((await app.get('/fhir/Chore?place=attic')).status).toBe(404);
      await app.close();
      const back = await whileHeld(async () => {
        const held = await start(WARD);
        expect(await warningsOf(held, 'place=attic')).toEqual([
          expect.stringMatching(/the index of Chore\.place was still being built/),
        ]);
        return held;
      });
      await settled();
      expect(await idsOn(back, '/fhir/Chore?place=attic')).toEqual(found);
    });
  });

  it('H1: two parameters with one code stop the start with one sentence', async () => {
    await expect(start(WARD, { ...WARD, expression: 'Chore.other' })).rejects.toThrow(
      'The search parameter Chore.ward is defined twice. Rename one of both.',
    );
  });

  it('H1: two modules that define one type stop the start with one sentence', async () => {
    const modules = [releaseWith([WARD]), releaseWith([ROOM])];
    await expect(startTestApp({ databaseUrl: database.url, modules })).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(/^ResourceTypes: "Chore" is registered twice, by .+ and by .+/) as unknown,
    });
  });
});
