import { Controller, Get, Module } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GrantedRows } from '../../../src/platform/request/granted-rows';
import { RequestContext } from '../../../src/platform/request/request-context';
import { EnforcesRows, OperationId } from '../../../src/platform/http/route-access';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';
import { sendingAs } from '../../support/callers';

/** Returns the granted rows of a request, as a route that enforces them sees them. */
@Controller('acme/rows')
class RowsController {
  constructor(private readonly requests: RequestContext) {}

  @Get()
  @OperationId('AcmeRows')
  @EnforcesRows()
  rows(): { rows: GrantedRows } {
    return { rows: this.requests.rows };
  }
}

@Module({ controllers: [RowsController] })
class RowsModule {}

describe('row criteria of policies', () => {
  let app: TestApp;
  let nurse: Person;
  let number = 0;

  beforeAll(async () => {
    app = await startTestApp({ modules: [RowsModule] });
    nurse = await login(app, 'nurse', { policies: [] });
    await app.put('/Patient/p1', {});
  });
  afterAll(() => app.close());

  const asNurse = sendingAs(() => [app, nurse]);

  /** Runs `work` while the nurse has policies with these criteria; undefined is a policy without criteria. */
  async function withCriteria<T>(all: readonly (string | string[] | undefined)[], work: () => Promise<T>): Promise<T> {
    const paths: string[] = [];
    for (const criteria of all) {
      const path = `/AccessPolicy/rows-${++number}`;
      const link = [{ resourceType: 'User', id: 'nurse' }];
      const answer = await app.put(path, { engine: 'allow', link, ...(criteria === undefined ? {} : { criteria }) });
      expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
      paths.push(path);
    }
    try {
      return await work();
    } finally {
      for (const path of paths) await app.delete(path);
    }
  }

  const rowsWith = (...all: (string | string[] | undefined)[]): Promise<unknown> =>
    withCriteria(all, async () => {
      const answer = await asNurse('GET', '/acme/rows');
      return answer.status === 200 ? answer.json<{ rows: unknown }>().rows : answer.status;
    });

  const setData = async (data: object | undefined): Promise<void> => {
    const user = (await app.get('/User/nurse')).json<object>();
    expect((await app.put('/User/nurse', { ...user, data })).status).toBe(200);
  };

  it('of several policies are combined as a union', async () => {
    expect(await rowsWith('Patient?_id=p1')).toEqual(['Patient?_id=p1']);
    expect(await rowsWith(['Patient?_id=p1', 'Medication'], 'Observation?status=final', 'Medication')).toEqual([
      'Patient?_id=p1',
      'Medication',
      'Observation?status=final',
    ]);
  });

  it('do not limit a caller who also has a grant without criteria', async () => {
    expect(await rowsWith('Patient?_id=p1', undefined)).toBe('all');
    expect(await rowsWith(undefined, 'Patient?_id=p1')).toBe('all');
  });

  it('are filled in with the current values of the stored User', async () => {
    const criteria = 'Observation?subject=Patient/{{user.data.patients}}&identifier={{user.data.site}}';
    await setData({ patients: ['p1', 'p2'], site: 'a,b&status=final' });
    expect(await rowsWith(criteria)).toEqual([
      'Observation?subject=Patient%2Fp1,Patient%2Fp2&identifier=a%5C%2Cb%26status%3Dfinal',
    ]);
    await setData({ patients: 'p3', site: 7 });
    expect(await rowsWith(criteria)).toEqual(['Observation?subject=Patient%2Fp3&identifier=7']);
  });

  it('grant nothing if a value is missing or makes the search invalid', async () => {
    await setData({ born: 'somewhen' });
    expect(await rowsWith('Observation?subject=Patient/{{user.data.patient}}')).toBe(403);
    expect(await rowsWith('Patient?birthdate={{user.data.born}}')).toBe(403);
    expect(await rowsWith('Patient?birthdate={{user.data.born}}', 'Medication')).toEqual(['Medication']);
  });

  it('cannot read a secret of the User', async () => {
    expect(await rowsWith('Patient?_id={{user.password}}')).toBe(403);
  });

  it('may use chains, _has, _list, :exact and :not', async () => {
    const all = [
      'Observation?subject:Patient.organization=Organization/o1',
      'Patient?_has:Encounter:patient:location=Location/w1',
      'Patient?_list=ward-1',
      'Patient?name:exact=Rivera',
      'Observation?code:not=http://loinc.org|1-8',
    ];
    expect(await rowsWith(all)).toEqual(all.map((text) => expect.stringContaining(text.slice(0, 11))));
  });

  it('do not grant an operation that cannot check each row', async () => {
    await withCriteria(['SearchParameter?_id=p1'], async () => {
      expect((await asNurse('GET', '/SearchParameter/p1/$index-status')).status).toBe(403);
    });
  });

  describe('by a stored SearchParameter', () => {
    const restricted = (members: object = {}): object => ({
      resourceType: 'SearchParameter',
      url: 'http://ward.example/SearchParameter/restricted',
      name: 'restricted',
      status: 'active',
      description: 'Whether a patient is restricted',
      code: 'restricted',
      base: ['Patient'],
      type: 'token',
      expression: "Patient.extension.where(url = 'http://ward.example/restricted').value",
      ...members,
    });
    const redefinitions: readonly [string, object][] = [
      ['another expression', { expression: 'Patient.contact.gender' }],
      ['another type', { type: 'string', expression: 'Patient.contact.name.family' }],
      ['no effect', { status: 'retired' }],
      ['another code', { code: 'unrestricted' }],
    ];
    let author: Person;

    beforeAll(async () => {
      author = await login(app, 'author', {
        policies: [{ engine: 'matcho', matcho: { params: { 'resource/type': 'SearchParameter' } } }],
      });
      expect((await app.put('/SearchParameter/restricted', restricted())).status).toBe(201);
    });

    const asAuthor = (method: string, body?: object, id = 'restricted'): Promise<Received> =>
      app.send(method, `/SearchParameter/${id}`, { authorization: author.bearer, ...(body && { body }) });

    it.each(['Patient?restricted:not=true', 'Observation?subject:Patient.restricted:missing=true'])(
      '%s: redefining or deleting the parameter requires the right to create policies',
      async (criterion) => {
        await withCriteria([criterion], async () => {
          for (const [, members] of redefinitions)
            expect((await asAuthor('PUT', restricted(members))).text).toContain('the right to create policies');
          expect((await asAuthor('DELETE')).status).toBe(403);
          expect((await asAuthor('PUT', restricted({ description: 'Said better' }))).status).toBe(200);
          const other = restricted({ url: 'http://ward.example/other', code: 'other' });
          expect((await asAuthor('PUT', other, 'other')).status).toBe(201);
          expect((await asAuthor('DELETE', undefined, 'other')).status).toBe(200);
        });
      },
    );

    it('that was deleted: creating it again requires the right to create policies', async () => {
      await withCriteria(['Patient?restricted:not=true'], async () => {
        expect((await app.delete('/SearchParameter/restricted')).status).toBe(200);
        expect((await asAuthor('PUT', restricted())).status).toBe(403);
        expect((await app.put('/SearchParameter/restricted', restricted())).status).toBe(201);
      });
    });

    it.each(redefinitions)('that no criterion uses may be changed to %s', async (_what, members) => {
      expect((await asAuthor('PUT', restricted(members))).status).toBe(200);
    });
  });
});
