import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle } from '../support/bundle';
import { TcpProxy } from '../support/tcp-proxy';
import { startTestApp, type TestApp } from '../support/test-app';

/** Each body fills what is read at once. */
const NOTE = 'x'.repeat(70_000);
const RESOURCES = 4;
/** Of an answer of the database: all bodies together take longer than `_timeout=1`. */
const DELAY_MILLISECONDS = 300;

const BODIES = 'everything-joined-bodies';
const VERSIONS = 'everything-versions';
const FIND = 'declare chart';

describe('D7: _timeout of $everything', () => {
  let fast: TestApp;
  let proxy: TcpProxy;
  let app: TestApp;

  beforeAll(async () => {
    fast = await startTestApp();
    proxy = await TcpProxy.start(fast.databaseUrl);
    app = await startTestApp({ databaseUrl: proxy.url });
    await fast.put('/fhir/Patient/slow', {});
    for (let n = 0; n < RESOURCES; n++) {
      await fast.put(`/fhir/Basic/slow-${n}`, { code: { text: NOTE }, subject: { reference: 'Patient/slow' } });
    }
  });
  afterAll(async () => {
    await app.close();
    await proxy.stop();
    await fast.close();
  });

  const ask = (query: string, accept = 'application/fhir+json'): ReturnType<TestApp['get']> =>
    app.get(`/fhir/Patient/slow/$everything?${query}`, { headers: { Accept: accept } });

  it.each([
    ['a Bundle', 'application/fhir+json', '"resourceType":"Basic"'],
    ['NDJSON', 'application/fhir+ndjson', '"resourceType":"Basic"'],
    ['YAML', 'text/yaml', 'resourceType: Basic'],
  ])('D7: ends no answer whose members are found: %s', async (_form, accept, part) => {
    const stop = proxy.delayAnswers(BODIES, DELAY_MILLISECONDS);
    try {
      const { status, text } = await ask('_timeout=1', accept);
      expect([status, text.split(part).length - 1]).toEqual([200, RESOURCES]);
    } finally {
      stop();
    }
  });

  it('D7: ends no page whose members are found', async () => {
    const stop = proxy.delayAnswers(VERSIONS, DELAY_MILLISECONDS);
    try {
      const first = (await ask('_timeout=1&_count=2')).json<Bundle>();
      const next = await app.get(first.link.find(({ relation }) => relation === 'next')?.url ?? '');
      expect([first.entry.length, next.json<Bundle>().entry.length]).toEqual([2, 2]);
    } finally {
      stop();
    }
  });

  it.each(['', '&_include=*', '&_count=2', '&_manifest=1', '&_summary=count'])(
    'D7: is a 504 before the first byte that names the type while members are searched: %s',
    async (query) => {
      const stop = proxy.delayAnswers(query === '' || query === '&_include=*' ? FIND : 'everything-', 1_100);
      try {
        const answer = await ask(`_timeout=1${query}`);
        const { issue } = answer.json<{ issue: [{ code: string; diagnostics: string }] }>();
        expect([answer.status, issue[0].code]).toEqual([504, 'timeout']);
        expect(issue[0].diagnostics).toMatch(/it was at (Patient|Account|Basic|what is included)\./);
      } finally {
        stop();
      }
    },
  );

  it.each(['2147483648', '4294967297', '1000000000000', '9'.repeat(40)])(
    'D7: is clamped like any other large value: %s',
    async (value) => {
      for (const path of ['/fhir/Patient/slow/$everything?_type=Patient&', '/fhir/Patient?']) {
        const answer = await fast.get(`${path}_timeout=${value}`);
        expect([answer.status, answer.json<Bundle>().link[0]?.url]).toEqual([
          200,
          expect.stringMatching(/_timeout=300(&|$)/),
        ]);
      }
    },
  );
});
