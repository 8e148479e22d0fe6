import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Resource } from '../../../src/fhir/types';
import { ResourceStore } from '../../../src/store/resource-store';
import { eventually } from '../../../testing/eventually';
import { startTestApp, type TestApp } from '../../../testing/test-app';
import { idsOn } from '../../support/bundle';
import { putParameter } from '../../support/store';

/** A condition on the whole resource for each identifier, four times nested: the fourth power of their number. */
const QUARTIC = ['x', 'y', 'z'].reduce(
  (inner, value) => `%resource.identifier.where(${inner} or value = '${value}').exists()`,
  "value = 'w'",
);

const basic = (count: number): object => ({
  resourceType: 'Basic',
  code: { text: 'x' },
  identifier: Array.from({ length: count }, (_value, index) => ({ value: `v${index}` })),
});

describe('a SearchParameter that would take hours for a resource', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.put('/Basic/before', basic(300));
    await app.put('/Basic/small', basic(3));
    const stored = await putParameter(app, 'quartic', {
      base: ['Basic'],
      type: 'token',
      expression: `Basic.identifier.where(${QUARTIC})`,
    });
    expect([stored.status, stored.text]).toEqual([201, expect.any(String)]);
  });
  afterAll(() => app.close());

  const isComplete = async (id: string): Promise<boolean> =>
    (await app.get(`/SearchParameter/${id}/$index-status`)).text.includes('"valueCode":"active"');

  it('does not stop its index build: an earlier resource keeps its rows', async () => {
    await eventually('the index is complete', () => isComplete('quartic'), 60_000);
    expect(await idsOn(app, '/Basic?identifier=v299')).toEqual(['before']);
  });

  it('refuses the write, and does not block others', async () => {
    const write = app.put('/Basic/after', basic(300));
    const others = await Promise.all(Array.from({ length: 20 }, () => app.get('/Basic/small')));
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
    const { status, text } = await write;
    expect([status, text]).toEqual([
      422,
      expect.stringContaining('Stored SearchParameters of this type take too long'),
    ]);
    expect((await app.put('/Basic/after', basic(3))).status).toBe(201);
  });

  it('stores no rows that were computed before the parameter changed', async () => {
    const client = await app.connect();
    const { rows } = await client.query<{ key: string; body: string }>(
      `select resource_key as key, body from resource where type = 'Basic' and id = 'small'`,
    );
    const [{ key, body: text } = { key: '', body: '' }] = rows;
    const store = app.provider(ResourceStore);
    const made = await store.indexed({
      ...{ type: 'Basic', id: 'small', key: Number(key), version: 1, mainDate: new Date() },
      ...{ text, value: JSON.parse(text) as Resource },
    });
    await putParameter(app, 'later', { base: ['Basic'], type: 'token', expression: 'Basic.code' });
    await eventually('the new parameter is used', async () => (await app.get('/Basic?later=x')).status === 200, 60_000);
    await expect(store.reindex([made], false)).rejects.toThrow();
  });
});
