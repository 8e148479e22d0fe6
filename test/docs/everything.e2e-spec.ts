import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DATED, LASTING } from '../../src/everything/plan/care-dates';
import { startTestApp, type TestApp } from '../../testing/test-app';
import { codeIn, rowsOf, sectionOf } from './documents';

const PAGE = 'docs/reference/everything.md';
const requestsOf = (heading: string): string[] =>
  rowsOf(PAGE, heading).map(([request]) => (codeIn(request)[0] ?? '').replace('GET ', ''));

describe('docs/reference/everything.md', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.put('/fhir/Patient/p7', {});
  });
  afterAll(() => app.close());

  it.each(requestsOf('Requests'))('states a request that returns 200: %s', async (request) => {
    const answer = await app.get(request);
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
  });

  it.each(requestsOf('Refused'))('states a request that returns 400 with an explanation: %s', async (request) => {
    const answer = await app.get(request);
    expect(answer.status).toBe(400);
    expect(answer.json<{ issue: { diagnostics: string }[] }>().issue[0]?.diagnostics).toMatch(/.{30}/);
  });

  it('states the care date of each type', () => {
    const items = [...sectionOf(PAGE, 'Care dates').matchAll(/^- \*\*(.+)\*\*: ((?:.|\n {2})+)$/gm)];
    const documented = items.flatMap(([, dates, types]) =>
      codeIn(types).map((type): [string, string[]] => [type, codeIn(dates)]),
    );
    const wanted = Object.entries(DATED).flatMap(([code, types]) => types.map((type) => [type, [code]] as const));
    const all = [...wanted, ['Condition', [LASTING.code, LASTING.until]] as const];
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(all));
  });
});
