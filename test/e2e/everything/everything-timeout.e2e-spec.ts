import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle } from '../../support/bundle';
import { TcpProxy } from '../../support/tcp-proxy';
import { startTestApp, type TestApp } from '../../../testing/test-app';

/** A text in each resource, so that each body fills one chunk. */
const NOTE = 'x'.repeat(70_000);
const RESOURCES = 4;
/**
 * Delay of each answer of the database. Four bodies, read together or as a page, then take longer than `_timeout=2`.
 */
const DELAY_MILLISECONDS = 550;

const BODIES = 'everything-bodies';
const VERSIONS = 'resource-read-versions';
const FIND = 'declare compartment';
/** Part of the statement that begins each snapshot. */
const BEGIN = 'REPEATABLE READ READ';

describe('D7: _timeout of $everything', () => {
  let fast: TestApp;
  let proxy: TcpProxy;
  let app: TestApp;

  beforeAll(async () => {
    fast = await startTestApp();
    proxy = await TcpProxy.start(fast.databaseUrl);
    // A caller may use a quarter of the connections for large compartments: four.
    app = await startTestApp({ databaseUrl: proxy.url, environment: { SVC_DATABASE_POOL_SIZE: '16' } });
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

  it('D7: does not end a response whose entries are found, as Bundle, NDJSON and YAML', async () => {
    const stop = proxy.delayAnswers(BODIES, DELAY_MILLISECONDS);
    const forms = [
      ['application/fhir+json', '"resourceType":"Basic"'],
      ['application/fhir+ndjson', '"resourceType":"Basic"'],
      ['text/yaml', 'resourceType: Basic'],
    ] as const;
    try {
      const answers = await Promise.all(forms.map(([accept]) => ask('_timeout=2', accept)));
      expect(answers.map(({ status, text }, at) => [status, text.split(forms[at]?.[1] ?? '').length - 1])).toEqual(
        forms.map(() => [200, RESOURCES]),
      );
    } finally {
      stop();
    }
  });

  it('D7: does not end a page whose entries are found', async () => {
    const stop = proxy.delayAnswers(VERSIONS, DELAY_MILLISECONDS);
    try {
      const first = (await ask('_timeout=2&_count=4')).json<Bundle>();
      const next = await app.get(first.link.find(({ relation }) => relation === 'next')?.url ?? '');
      expect([first.entry.length, next.json<Bundle>().entry.length]).toEqual([4, 1]);
    } finally {
      stop();
    }
  });

  it.each([
    [FIND, ['', '&_include=*']],
    [BEGIN, ['&_count=2', '&_manifest=1', '&_summary=count']],
  ])(
    'D7: causes a 504 that names the type before the first byte while entries are searched (%s): %s',
    async (sent, queries) => {
      const stop = proxy.delayAnswers(sent, 1_100);
      try {
        const answers = await Promise.all(queries.map((query) => ask(`_timeout=1${query}`)));
        for (const answer of answers) {
          const { issue } = answer.json<{ issue: [{ code: string; diagnostics: string }] }>();
          expect([answer.status, issue[0].code]).toEqual([504, 'timeout']);
          expect(issue[0].diagnostics).toMatch(/it was at (Patient|Account|Basic|what is included)\./);
        }
      } finally {
        stop();
      }
    },
  );

  it.each(['2147483648', '4294967297', '1000000000000', '9'.repeat(40)])(
    'D7: is limited like any other large value: %s',
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
