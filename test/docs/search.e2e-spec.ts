import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../testing/test-app';
import { codeIn, rowsOf } from './documents';

const PAGE = 'docs/reference/search.md';
const requestsOf = (heading: string): string[] => rowsOf(PAGE, heading).map(([request]) => codeIn(request)[0] ?? '');

describe('the requests of docs/reference/search.md', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it.each(requestsOf('Examples'))('return 200: %s', async (request) => {
    const [method = '', ...path] = request.split(' ');
    const answer = await app.send(method, path.join(' '));
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    // A lenient search drops unknown parameters from its `self` link; this link still has all of them.
    const { link } = answer.json<{ link: { url: string }[] }>();
    const [, query = ''] = path.join(' ').split('?');
    const used = new URLSearchParams(link[0]?.url.split('?')[1]);
    const asked = [...new URLSearchParams(query).keys()];
    expect(asked.filter((name) => !used.has(name))).toEqual([]);
  });

  it.each(requestsOf('Refused'))('return 400 with an explanation: %s', async (request) => {
    const answer = await app.send('GET', request.replace('GET ', ''));
    expect(answer.status).toBe(400);
    expect(answer.json<{ issue: { diagnostics: string }[] }>().issue[0]?.diagnostics).toMatch(/.{30}/);
  });

  it('are more than fifteen, and begin with GET /fhir', () => {
    expect(requestsOf('Examples').length).toBeGreaterThan(15);
    expect([...requestsOf('Examples'), ...requestsOf('Refused')]).toEqual(
      expect.not.arrayContaining([expect.not.stringMatching(/^GET \/fhir/)]),
    );
  });
});
