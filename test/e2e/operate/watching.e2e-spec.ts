import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ContextLogger } from '../../../src/platform/logging/context-logger';
import { RequestContext } from '../../../src/platform/request/request-context';
import { delivered, destination, newDestination, newTopic } from '../../support/destinations';
import { eventually } from '../../../testing/eventually';
import { login, type Person } from '../../../testing/world';
import { metricsUrlOf, type Scrape, scrapeOf } from '../../support/scrape';
import { startTestApp, type TestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

const CANARY = 'Zacharias-Canary';

let app: TestApp;
let nurse: Person;
const warnings: string[] = [];

beforeAll(async () => {
  app = await startTestApp({ environment: { SVC_METRICS_PORT: '0', SVC_DELIVERY_POLL_MILLISECONDS: '100' } });
  app.app.useLogger(new ContextLogger('warn', app.app.get(RequestContext)));
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => warnings.push(String(text)) > 0);
  nurse = await login(app, 'nurse');
});
afterAll(async () => {
  jest.restoreAllMocks();
  await app.close();
});

const scrape = (): Promise<Scrape> => scrapeOf(metricsUrlOf(app));
const warningsOf = (text: string): string[] => warnings.filter((line) => line.includes(text));

describe('O7: new metrics', () => {
  it('include the duration of requests by method, route and status class, in cumulative buckets', async () => {
    await app.put(`/fhir/Patient/${CANARY}`, { name: [{ family: CANARY }] });
    await app.get(`/fhir/Patient/${CANARY}?_pretty=true`);
    await app.get(`/fhir/Patient/${CANARY}-not`);
    const scraped = await scrape();
    const of = (status: string): string => `{method="GET",route="/fhir/:type/:id",status="${status}"}`;
    expect(scraped.value(`svc_http_request_duration_seconds_count${of('2xx')}`)).toBe(1);
    expect(scraped.value(`svc_http_request_duration_seconds_count${of('4xx')}`)).toBe(1);
    expect(scraped.value(`svc_http_request_duration_seconds_sum${of('2xx')}`)).toBeGreaterThan(0);
    const buckets = scraped
      .samplesOf('svc_http_request_duration_seconds_bucket')
      .filter(([sample]) => sample.includes(of('2xx').slice(1, -1)))
      .map(([, value]) => value);
    expect(buckets).toEqual(buckets.toSorted((left, right) => left - right));
    expect([buckets.length, buckets.at(-1)]).toEqual([13, 1]);
  });

  it('include the duration of statements, of commits, and of waits for a connection', async () => {
    const before = await scrape();
    await app.put('/fhir/Patient/p', {});
    const scraped = await scrape();
    const more = (sample: string): number => (scraped.value(sample) ?? 0) - (before.value(sample) ?? 0);
    expect(more('svc_database_statement_seconds_count{command="statement"}')).toBeGreaterThan(1);
    expect(more('svc_database_statement_seconds_count{command="commit"}')).toBeGreaterThan(0);
    expect(more('svc_database_pool_wait_seconds_count')).toBeGreaterThan(0);
    expect(scraped.value('svc_database_statement_seconds_sum{command="commit"}')).toBeGreaterThan(0);
  });

  it('include logins and denials of which none happened, so that their first increase is seen', async () => {
    const scraped = await scrape();
    expect(scraped.value('svc_logins_total{grant="refresh_token",result="invalid_grant"}')).toBe(0);
    for (const reason of ['policy', 'rows'])
      expect([reason, scraped.value(`svc_access_denials_total{reason="${reason}"}`)]).toEqual([reason, 0]);
  });

  it('count logins by grant and result, and denials', async () => {
    const { userId, password, clientId, clientSecret } = nurse;
    const asked = {
      ...{ grant_type: 'password', client_id: clientId, client_secret: clientSecret },
      ...{ username: userId, password },
    };
    const post = (body: object): Promise<unknown> => app.post('/auth/token', body, { authorization: null });
    await post({ ...asked, password: CANARY });
    await post({ ...asked, username: CANARY });
    await post({ ...asked, client_secret: CANARY });
    await post({ ...asked, grant_type: CANARY });
    await login(app, 'stranger', { policies: [] }).then(({ bearer }) =>
      app.get('/fhir/Patient/p', { authorization: bearer }),
    );
    const scraped = await scrape();
    expect(
      scraped
        .samplesOf('svc_logins_total')
        .filter(([, count]) => count > 0)
        .sort(),
    ).toEqual([
      ['svc_logins_total{grant="password",result="invalid_client"}', 1],
      ['svc_logins_total{grant="password",result="invalid_grant"}', 2],
      ['svc_logins_total{grant="password",result="ok"}', 2],
    ]);
    expect(scraped.value('svc_logins_waiting')).toBe(0);
    expect(scraped.value('svc_access_denials_total{reason="policy"}')).toBe(1);
    expect(scraped.text).not.toContain(CANARY);
  });
});

describe('O7: a series of failures', () => {
  it('of statements on a full disk logs a warning at its start, one at its end, and a count', async () => {
    const database = await app.connect();
    // PostgreSQL answers with this code when a table cannot grow.
    await database.query(`create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file: ${CANARY}' using errcode = '53100'; end $$;
      create trigger refuse before insert on resource for each row execute function refuse()`);
    for (let write = 0; write < 5; write++) {
      expect((await app.put(`/fhir/Patient/full-${write}`, {})).status).toBe(503);
    }
    await database.query('drop function refuse() cascade');
    expect((await app.put('/fhir/Patient/full', {})).status).toBe(201);
    await eventually('the streak is over', () => warningsOf('error class 53 no longer fail').length > 0);
    expect(warningsOf('error class 53').map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      'Statements of the error class 53 fail: SQLSTATE 53100. The next line of them follows when none has failed for 5 s',
      expect.stringMatching(/^Statements of the error class 53 no longer fail: 5 did in \d+ s$/),
    ]);
    expect((await scrape()).value('svc_database_errors_total{class="53"}')).toBe(5);
    expect(warnings.join('')).not.toContain(CANARY);
  }, 30_000);

  it('of a webhook logs a warning at its start and one at its end, with only the destination', async () => {
    const receiver = await WebhookReceiver.start();
    try {
      receiver.always({ kind: 'answer', status: 503, body: CANARY });
      const topic = await newTopic(app, { resource: 'Patient' });
      const id = await newDestination(app, destination(topic, {}, `${receiver.url}?key=${CANARY}`));
      await app.put('/fhir/Patient/told', { name: [{ family: CANARY }] });
      await eventually('three attempts failed', () => receiver.bodies.length >= 3);
      receiver.always({ kind: 'answer', status: 200 });
      await delivered(app, id, 1);
      await eventually('the end is logged', () => warningsOf('delivers again').length > 0);
      const lines = warningsOf(`Destination ${id}`).map((line) => (JSON.parse(line) as { message: string }).message);
      expect(lines).toEqual([
        `Destination ${id} fails and is tried again until it delivers: see its $status`,
        expect.stringMatching(new RegExp(`^Destination ${id} delivers again: [3-9] attempts had failed$`)),
      ]);
      expect(warnings.join('')).not.toContain(CANARY);
    } finally {
      await receiver.stop();
    }
  }, 30_000);
});
