import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundleOf } from '../../support/bundle';
import { longestTurn } from '../../support/longest-turn';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';

const listOf = (length: number, prefix = 'n'): string => Array.from({ length }, (_, n) => `${prefix}${n}`).join(',');

describe('search limits', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  const form = (path: string, query: Record<string, string>, more: object = {}): ReturnType<TestApp['get']> =>
    app.post(path, new URLSearchParams(query).toString(), {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...more },
    });

  it.each([
    ['S19: names of elements', 'Patient', { _elements: listOf(1_001) }, 'at most 1000 names'],
    ['S19: includes', 'Patient', { _include: listOf(40_000, 'Patient:link') }, 'Patient'],
    ['S19: includes in one parameter', 'Patient', { _include: Array(40_000).fill('*').join(',') }, '32 times'],
    ['S19: ids', 'Patient', { _id: listOf(1_001) }, 'at most 1000 values'],
    ['S19: types', '', { _type: Array(40_000).fill('Patient').join(',') }, 'at most 1000 values'],
    ['S21: codes', 'Observation', { code: listOf(1_001) }, 'at most 1000 values'],
    ['S21: pairs', 'Observation', { 'code-value-quantity': listOf(1_001, '1$') }, 'at most 1000 values'],
    ['S17: :text values, which no index supports', 'Observation', { 'code:text': listOf(33) }, 'at most 32 values'],
    ['S17: _ilike words, which no index supports', 'Patient', { _ilike: listOf(33) }, 'at most 32 values'],
    [
      'S17: dot expressions, which no index supports',
      'Patient',
      { '.gender$contains': listOf(33) },
      'at most 32 values',
    ],
    ['S2: paths of a chain', 'Observation', { 'subject.identifier': listOf(1_000, 'x'.repeat(200)) }, 'too many paths'],
  ])('refuse too many %s', async (_what, type, query, said) => {
    const { status, text } = await form(`/fhir/${type === '' ? '' : `${type}/`}_search`, query);
    expect([status, text]).toEqual([400, expect.stringContaining(said)]);
  });

  it('S19: refuse too many parameters, and a long form', async () => {
    const many = Array.from({ length: 501 }, (_, n) => `_x${n}=1`).join('&');
    expect((await app.get(`/fhir/Patient?${many}`, { headers: { prefer: 'handling=lenient' } })).status).toBe(400);
    expect((await form('/fhir/Patient/_search', { name: 'x'.repeat(1_100_000) })).status).toBe(413);
  });

  it('S21: refuse a stored ValueSet with more codes than a list may have', async () => {
    const concept = (length: number): object[] => Array.from({ length }, (_, n) => ({ code: `c${n}` }));
    for (const [id, length] of [
      ['fits', 1_000],
      ['large', 1_001],
    ] as const) {
      const url = `http://x.example/${id}`;
      const compose = { include: [{ system: 'http://x.example', concept: concept(length) }] };
      await app.put(`/fhir/ValueSet/${id}`, { resourceType: 'ValueSet', id, url, status: 'active', compose });
    }
    expect((await app.get('/fhir/Observation?code:not-in=http://x.example/fits')).status).toBe(200);
    const refused = await app.get('/fhir/Observation?code:not-in=http://x.example/large');
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('more than 1000 codes')]);
  });

  it('S19: let other requests run while 1,000 Patients are returned with _elements of 1,000 names', async () => {
    const entry = Array.from({ length: 1_000 }, (_, n) => ({
      resource: { resourceType: 'Patient', name: [{ family: `F${n}`, given: ['A'] }], gender: 'female' },
      request: { method: 'POST', url: 'Patient' },
    }));
    const { status, text } = await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry });
    expect([status, text.includes('"201 Created"')]).toEqual([200, true]);
    const names = `name.family,${listOf(999)}`;
    const answers: Received[] = [];
    const turn = await longestTurn(async () => {
      const query = { _count: '1000', _elements: names };
      answers.push(await form('/fhir/Patient/_search', query, { prefer: 'handling=lenient' }));
    });
    expect(answers.flatMap((answer) => bundleOf(answer).entry).map(({ resource }) => Object.keys(resource))).toEqual(
      entry.map(() => ['resourceType', 'id', 'meta', 'name']),
    );
    // A quiet machine takes 20 ms; comparing each name with each element took seconds.
    expect(turn).toBeLessThan(500);
  });
});
