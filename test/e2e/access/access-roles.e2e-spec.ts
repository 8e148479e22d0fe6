import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ResourceCriteria } from '../../../src/search/run/resource-criteria';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';

describe('roles', () => {
  let app: TestApp;
  let nurse: Person;

  beforeAll(async () => {
    app = await startTestApp();
    nurse = await login(app, 'nurse', { policies: [] });
    await app.put('/Patient/p1', {});
    await app.put('/Client/machine', { secret: 'machine', grant_types: ['basic'] });
  });
  afterAll(() => app.close());

  const asNurse = (path: string): Promise<Received> => app.get(path, { authorization: nurse.bearer });
  const statusOf = async (path = '/Patient/p1'): Promise<number> => (await asNurse(path)).status;

  const role = (name: string, user: string, more: object = {}): object => ({
    name,
    user: { resourceType: 'User', id: user },
    ...more,
  });
  const organization = (id: string): object => ({ links: { organization: { resourceType: 'Organization', id } } });

  async function withPolicy(policy: object, work: () => Promise<void>): Promise<void> {
    const answer = await app.put('/AccessPolicy/of-role', policy);
    expect([answer.status, answer.text]).toEqual([expect.any(Number), expect.stringContaining('"AccessPolicy"')]);
    await work().finally(() => app.delete('/AccessPolicy/of-role'));
  }

  it('grant their policies to the User from the response to the creation until the response to the deletion', async () => {
    await withPolicy({ engine: 'allow', roleName: 'clinician' }, async () => {
      for (let round = 0; round < 5; round++) {
        expect(await statusOf()).toBe(403);
        expect((await app.put('/Role/r1', role('clinician', 'nurse'))).status).toBe(201);
        expect(await statusOf()).toBe(200);
        await app.put('/Role/r1', role('clerk', 'nurse'));
        expect(await statusOf()).toBe(403);
        await app.put('/Role/r1', role('clinician', 'somebody'));
        expect(await statusOf()).toBe(403);
        await app.put('/Role/r1', role('clinician', 'nurse'));
        expect(await statusOf()).toBe(200);
        await app.delete('/Role/r1');
      }
    });
  });

  it('apply to Users, not to Clients', async () => {
    await app.put('/Role/of-machine', role('clinician', 'machine'));
    await withPolicy({ engine: 'allow', roleName: 'clinician' }, async () => {
      const answer = await app.get('/Patient/p1', { authorization: basicHeader('machine', 'machine') });
      expect(answer.status).toBe(403);
    });
  });

  it('and links of a policy must both match', async () => {
    await app.put('/Role/r2', role('clinician', 'nurse'));
    const link = (id: string): object => ({
      engine: 'allow',
      roleName: 'clinician',
      link: [{ resourceType: 'Operation', id }],
    });
    await withPolicy(link('FhirRead'), async () => {
      expect([await statusOf(), await statusOf('/Patient')]).toEqual([200, 403]);
    });
    await app.delete('/Role/r2');
    await withPolicy(link('FhirRead'), async () => {
      expect(await statusOf()).toBe(403);
    });
  });

  it('of other names are hidden from a policy with a roleName', async () => {
    await app.put('/Role/r3', role('clinician', 'nurse', { ...organization('o1'), context: { shift: 'night' } }));
    await app.put('/Role/r4', role('clerk', 'nurse', organization('o2')));
    const policy = (name: string, session: object): object => ({
      engine: 'matcho',
      roleName: name,
      matcho: { session },
    });
    const one = { role: { $length: 1, $contains: { name: 'clinician', context: { shift: 'night' } } } };
    await withPolicy(policy('clinician', one), async () => {
      expect(await statusOf()).toBe(200);
    });
    await withPolicy(policy('clerk', one), async () => {
      expect(await statusOf()).toBe(403);
    });
    await withPolicy({ engine: 'matcho', matcho: { session: { role: { $length: 2 } } } }, async () => {
      expect(await statusOf()).toBe(200);
    });
  });

  it('that are too many for the cache are read once for all entries of a Bundle', async () => {
    const { bearer } = await login(app, 'busy', {
      policies: [{ engine: 'matcho', matcho: { operation: { id: 'FhirBundle' } } }],
    });
    for (let n = 0; n < 2; n++)
      await app.put(`/Role/busy-${n}`, role('clinician', 'busy', { description: 'x'.repeat(10_000) }));
    await withPolicy({ engine: 'allow', roleName: 'clinician' }, async () => {
      const find = jest.spyOn(app.provider(ResourceCriteria), 'find');
      const entry = Array.from({ length: 9 }, (_, n) => ({
        resource: { resourceType: 'Patient', id: `busy-${n}` },
        request: { method: 'PUT', url: `Patient/busy-${n}` },
      }));
      for (const type of ['batch', 'transaction']) {
        find.mockClear();
        const sent = { resourceType: 'Bundle', type, entry };
        const answer = await app.post('/fhir', sent, { authorization: bearer });
        const statuses = answer
          .json<{ entry: { response: { status: string } }[] }>()
          .entry.map((one) => one.response.status);
        expect([type, statuses]).toEqual([type, entry.map(() => expect.stringMatching(/^20[01] /))]);
        expect(find.mock.calls.filter(([of]) => of === 'Role')).toHaveLength(1);
      }
      find.mockRestore();
    });
  });

  it('are validated, and found by name and user', async () => {
    const named = await app.get('/Role?name=clinician&user=User/nurse');
    expect(named.json<{ total: number }>().total).toBe(1);
    for (const bad of [
      {},
      { name: 'x' },
      role('', 'nurse'),
      { name: 'x', user: { reference: 'User/nurse' } },
      role('x', 'nurse', { linkz: {} }),
    ]) {
      expect([bad, (await app.put('/Role/bad', bad)).status]).toEqual([bad, 422]);
    }
  });
});
