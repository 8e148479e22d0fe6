import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

describe('a SearchParameter that takes hours on a resource', () => {
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

  it('does not stop its index: a resource that was stored before keeps the rows it has', async () => {
    await eventually('the index is complete', () => isComplete('quartic'), 60_000);
    expect(await idsOn(app, '/Basic?identifier=v299')).toEqual(['before']);
  });

  it('refuses the write, and leaves the server to others', async () => {
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
});
