import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { type TestApp, startTestApp } from '../../../testing/test-app';

describe('the data that a policy decides by', () => {
  let first: TestApp;
  let second: TestApp;
  let nurse: Person;

  beforeAll(async () => {
    first = await startTestApp();
    second = await startTestApp({ databaseUrl: first.databaseUrl });
    nurse = await login(first, 'nurse', { policies: [] });
    for (const id of ['p1', 'p2']) await first.put(`/Patient/${id}`, {});
  });
  afterAll(async () => {
    await second.close();
    await first.close();
  });

  const servers = (): (readonly [here: TestApp, there: TestApp])[] => [
    [first, second],
    [second, first],
  ];
  const statusesOn = async (app: TestApp): Promise<number[]> => {
    const reads = ['p1', 'p2'].map((id) => app.get(`/Patient/${id}`, { authorization: nurse.bearer }));
    return (await Promise.all(reads)).map(({ status }) => status);
  };
  const matcho = (id: string): object => ({
    engine: 'matcho',
    link: [{ resourceType: 'User', id: 'nurse' }],
    matcho: { params: { 'resource/id': id } },
  });

  it('includes the latest stored pattern, on each server', async () => {
    for (let round = 0; round < 5; round++) {
      for (const [here, there] of servers()) {
        await here.put('/AccessPolicy/pattern', matcho('p1'));
        expect(await statusesOn(there)).toEqual([200, 403]);
        await here.put('/AccessPolicy/pattern', matcho('p2'));
        expect(await statusesOn(there)).toEqual([403, 200]);
        await here.delete('/AccessPolicy/pattern');
        expect(await statusesOn(there)).toEqual([403, 403]);
      }
    }
  });

  it('includes the latest stored Roles, on each server', async () => {
    await first.put('/AccessPolicy/of-role', { engine: 'allow', roleName: 'clinician' });
    const user = { resourceType: 'User', id: 'nurse' };
    for (let round = 0; round < 5; round++) {
      for (const [here, there] of servers()) {
        await here.put('/Role/r1', { name: 'clinician', user });
        expect(await statusesOn(there)).toEqual([200, 200]);
        await here.delete('/Role/r1');
        expect(await statusesOn(there)).toEqual([403, 403]);
      }
    }
    await first.delete('/AccessPolicy/of-role');
  });

  it('includes the latest stored User, on each server', async () => {
    await first.put('/AccessPolicy/of-user', matcho('.user.data.patient'));
    for (let round = 0; round < 5; round++) {
      for (const [here, there] of servers()) {
        for (const [patient, statuses] of [
          ['p1', [200, 403]],
          ['p2', [403, 200]],
          [undefined, [403, 403]],
        ] as const) {
          const user = (await here.get('/User/nurse')).json<object>();
          await here.put('/User/nurse', { ...user, data: { patient } });
          expect(await statusesOn(there)).toEqual(statuses);
        }
      }
    }
  });
});
