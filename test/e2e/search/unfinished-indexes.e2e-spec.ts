import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { requestReindex } from '../../../tools/reindex/request-reindex';
import { eventually } from '../../../testing/eventually';
import { type Person, login } from '../../../testing/world';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';
import { sendingAs } from '../../support/callers';
import { metricsUrlOf, scrapeOf } from '../../support/scrape';

const BUSY = [503, expect.stringMatching(/^1?\d\d$/)];
/** Pattern of the refusal while the index job has indexed one resource of five. */
const REFUSAL = /The index of Patient\.[\w-]+ is being built: 20 % are done, about \d+ s are left. Try again later./;
const subject = { reference: 'Patient/b' };
const observation = (id: string, status = 'final'): object => ({
  resourceType: 'Observation',
  id,
  status,
  code: { text: 'x' },
  subject,
});

/**
 * The index job waits for the lock on the second Patient, so only the first Patient is indexed. The other types have
 * fewer resources, and their indexes are complete.
 */
describe('while the index of Patient is built', () => {
  let app: TestApp;
  let client: Client;
  let held: Client;
  let nurse: Person;
  /** The `next` link of pages that began earlier. */
  let pages: string;

  const nextOf = (page: Received): string =>
    page.json<{ link: { relation: string; url: string }[] }>().link.find(({ relation }) => relation === 'next')?.url ??
    '';

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_METRICS_PORT: '0' } });
    client = new Client({ connectionString: app.databaseUrl });
    held = new Client({ connectionString: app.databaseUrl });
    await client.connect();
    await held.connect();
    nurse = await login(app, 'nurse', { policies: [] });
    for (const id of ['a', 'aa', 'b', 'c', 'd'])
      await app.put(`/Patient/${id}`, { resourceType: 'Patient', id, name: [{ family: `Name ${id}` }], active: true });
    for (const id of ['o1', 'o2']) await app.put(`/Observation/${id}`, observation(id));
    const encounter = { resourceType: 'Encounter', id: 'e', status: 'finished', class: { code: 'AMB' } };
    await app.put('/Encounter/e', { ...encounter, subject: { reference: 'Patient/d' } });
    pages = nextOf(await app.get('/fhir/Patient/b/$everything?_count=1'));
    await held.query('begin');
    await held.query(`select from resource where type = 'Patient' and id = 'aa' for update`);
    await requestReindex(client, []);
    await eventually(
      'the other types are done',
      async () => {
        const { rows } = await client.query<{ type: string }>(
          `select distinct resource_type as type from search_parameter_state where state <> 'active'`,
        );
        return rows.length === 1 && rows[0]?.type === 'Patient';
      },
      60_000,
    );
    await eventually('the first Patient is done', async () => {
      const { text } = await app.get('/fhir/Patient/b/$everything');
      return REFUSAL.test(text);
    });
  });
  afterAll(async () => {
    await held.query('rollback');
    await held.end();
    await client.end();
    await app.close();
  });

  const asNurse = sendingAs(() => [app, nurse]);

  const outcomeOf = ({ status, headers }: Received): unknown[] => [status, headers.get('retry-after')];

  async function withCriteria(criteria: string | readonly string[], work: () => Promise<void>): Promise<void> {
    const link = [{ resourceType: 'User', id: 'nurse' }];
    const stored = await app.put('/AccessPolicy/nurse', { engine: 'allow', link, criteria });
    expect([stored.status, stored.text]).toEqual([201, expect.any(String)]);
    try {
      await work();
    } finally {
      await app.delete('/AccessPolicy/nurse');
    }
  }

  it.each([
    ['$everything with Patients', 'GET', '/fhir/Patient/b/$everything'],
    [
      '$everything that includes references of Patients',
      'GET',
      '/fhir/Patient/b/$everything?_type=Observation&_include=Patient',
    ],
    [
      '$everything that includes by a reference of Patient',
      'GET',
      '/fhir/Patient/b/$everything?_type=Observation&_include=Patient:organization',
    ],
    ['$everything that counts again for a later page', 'GET', 'pages&_summary=count'],
    ['Patients of a compartment', 'GET', '/fhir/Patient/b/Patient'],
    ['a conditional create', 'PUT', '/fhir/Patient?family=Name'],
    ['a conditional delete', 'DELETE', '/fhir/Patient?family=Name'],
  ])('H1: %s returns 503', async (_what, method, path) => {
    const body = method === 'PUT' ? { body: { resourceType: 'Patient' } } : {};
    const answer = await app.send(method, path.replace('pages', pages), body);
    expect(outcomeOf(answer)).toEqual(BUSY);
    expect(answer.text).toMatch(REFUSAL);
  });

  it.each([
    ['$everything of other types', '/fhir/Patient/b/$everything?_type=Observation', 2],
    [
      '$everything of other types with included resources',
      '/fhir/Patient/b/$everything?_type=Observation&_include=Organization',
      2,
    ],
    ['$everything of other types in a period', '/fhir/Patient/b/$everything?_type=Observation&start=2020-01-01', 2],
    ['Observations of a compartment', '/fhir/Patient/b/Observation', 2],
    ['pages of an earlier $everything', 'pages', 1],
  ])('%s succeed', async (_what, path, count) => {
    const answer = await app.get(path.replace('pages', pages));
    expect([answer.status, answer.json<{ entry?: object[] }>().entry?.length]).toEqual([200, count]);
  });

  it.each([
    ['Patient?family=name', true],
    ['Patient?_sort=family', true],
    ['Observation?subject:Patient.family=name', true],
    ['Patient?_has:Observation:subject:status=final', false],
    ['Patient?_id=b', false],
    ['Observation?status=final', false],
    ['Observation?subject=Patient/b', false],
  ])('H1: %s carries a warning: %s', async (query, isWarned) => {
    const { entry = [] } = (await app.get(`/fhir/${query}`)).json<{ entry?: { search: { mode: string } }[] }>();
    expect(entry.some(({ search }) => search.mode === 'outcome')).toBe(isWarned);
  });

  it('O7: the metrics count the remaining resources', async () => {
    const scrape = await scrapeOf(metricsUrlOf(app));
    expect(scrape.value('svc_search_index_resources_left')).toBe(4);
  });

  it('H1: access criteria that search other resources by it return 503, and others work', async () => {
    await withCriteria('Observation?subject:Patient.family:exact=Name b', async () => {
      for (const path of ['/Observation/o1', '/fhir/Observation', '/Observation/o1/_history'])
        expect([path, ...outcomeOf(await asNurse('GET', path))]).toEqual([path, ...BUSY]);
    });
    await withCriteria('Patient?family:exact=Name b', async () => {
      expect((await asNurse('GET', '/fhir/Patient')).text).toMatch(REFUSAL);
    });
    await withCriteria('Observation?status=final', async () => {
      expect((await asNurse('GET', '/Observation/o1')).status).toBe(200);
      expect((await asNurse('GET', '/fhir/Observation')).status).toBe(200);
    });
  });

  /** Swaps the rows of two Patients, as if another definition had made them: they contradict the bodies. */
  async function swapNames(one: string, other: string): Promise<void> {
    await client.query(
      `update search_string s set resource_key = -r.resource_key from resource r
       where r.resource_key = s.resource_key and r.type = 'Patient' and r.id in ($1, $2)`,
      [one, other],
    );
    await client.query(
      `update search_string s set resource_key = (
         select resource_key from resource where type = 'Patient' and id = case when r.id = $1 then $2 else $1 end
       ) from resource r where -r.resource_key = s.resource_key and r.type = 'Patient'`,
      [one, other],
    );
  }

  it('H1: unfinished criteria do not affect other types; for a compartment only its owner counts', async () => {
    const chain = 'Observation?subject:Patient.family:exact=Name b';
    await withCriteria([chain, 'Encounter', 'Patient'], async () => {
      expect((await asNurse('GET', '/Encounter/e')).status).toBe(200);
      expect((await asNurse('GET', '/fhir/Encounter')).status).toBe(200);
      expect((await asNurse('GET', '/Patient/b')).status).toBe(200);
      expect((await asNurse('GET', '/fhir/Patient/b/$everything?_type=Encounter')).status).toBe(200);
      expect(outcomeOf(await asNurse('GET', '/fhir/Patient/b/$everything?_type=Observation'))).toEqual(BUSY);
      expect(outcomeOf(await asNurse('PUT', '/Observation/o1', observation('o1')))).toEqual(BUSY);
    });
    await withCriteria(['Patient?family:exact=Name d', 'Observation', 'Encounter'], async () => {
      await swapNames('d', 'a');
      const path = (id: string, types: string): string => `/fhir/Patient/${id}/$everything?_type=${types}`;
      const found = await asNurse('GET', path('d', 'Observation,Encounter'));
      expect([found.status, found.json<{ total: number }>().total]).toEqual([200, 1]);
      expect((await asNurse('GET', path('a', 'Observation'))).status).toBe(404);
      expect(outcomeOf(await asNurse('GET', path('d', 'Observation,Patient')))).toEqual(BUSY);
      expect(outcomeOf(await asNurse('GET', '/fhir/Patient/d/$everything'))).toEqual(BUSY);
    });
  });

  it('H1: criteria on the resource itself are evaluated on its body, for any read of one resource', async () => {
    await withCriteria('Patient?family:exact=Name b', async () => {
      await swapNames('b', 'c');
      expect((await asNurse('GET', '/Patient/c')).status).toBe(404);
      expect((await asNurse('GET', '/Patient/b')).status).toBe(200);
      expect((await asNurse('GET', '/Patient/b/_history/1')).status).toBe(200);
      expect((await asNurse('GET', '/Patient/b/_history')).status).toBe(200);
      const patch = [{ op: 'replace', path: '/active', value: false }];
      const patched = await app.send('PATCH', '/Patient/c', {
        authorization: nurse.bearer,
        body: JSON.stringify(patch),
        headers: { 'Content-Type': 'application/json-patch+json' },
      });
      expect(patched.status).toBe(404);
      const entry = ['b', 'c'].map((id) => ({ request: { method: 'GET', url: `Patient/${id}` } }));
      const batch = await asNurse('POST', '/fhir', { resourceType: 'Bundle', type: 'batch', entry });
      expect(
        batch
          .json<{ entry: { response: { status: string } }[] }>()
          .entry.map(({ response }) => response.status.slice(0, 3)),
      ).toEqual(['200', '404']);
      const put = {
        resource: { resourceType: 'Patient', id: 'd', active: false },
        request: { method: 'PUT', url: 'Patient/d' },
      };
      const transaction = { resourceType: 'Bundle', type: 'transaction', entry: [put] };
      expect((await asNurse('POST', '/fhir', transaction)).status).toBe(403);
    });
  });

  describe('for a destination whose creator is limited to rows', () => {
    const WEBHOOK = 'http://x.example/StructureDefinition/svctopicdestination-webhook-at-least-once';
    const DESTINATION = {
      resourceType: 'SvcTopicDestination',
      meta: { profile: [WEBHOOK] },
      kind: 'webhook-at-least-once',
      topic: 'http://topics.example/all',
      // Nothing listens at this endpoint, so events stay in the queue.
      parameter: [{ name: 'endpoint', valueUrl: 'http://127.0.0.1:9/' }],
    };

    const waiting = async (id: string): Promise<number> => {
      const { parameter } = (await app.get(`/SvcTopicDestination/${id}/$status`)).json<{
        parameter: { name: string; valueDecimal?: number }[];
      }>();
      const counts = parameter.filter(({ name }) => name === 'messagesQueued' || name === 'messagesInProcess');
      return counts.reduce((sum, { valueDecimal = 0 }) => sum + valueDecimal, 0);
    };

    async function withDestination(
      id: string,
      criteria: string | readonly string[],
      work: () => Promise<void>,
    ): Promise<void> {
      const trigger = [{ resource: 'Patient' }, { resource: 'Observation' }];
      await app.put('/SvcSubscriptionTopic/all', { url: DESTINATION.topic, status: 'active', trigger });
      const link = [{ resourceType: 'User', id: 'nurse' }];
      await app.put('/AccessPolicy/nurse', {
        engine: 'allow',
        link,
        criteria: ['Patient', 'Observation', 'SvcTopicDestination'],
      });
      expect((await asNurse('PUT', `/SvcTopicDestination/${id}`, DESTINATION)).status).toBe(201);
      await app.put('/AccessPolicy/nurse', {
        engine: 'allow',
        link,
        criteria: [criteria, 'SvcTopicDestination'].flat(),
      });
      try {
        await work();
      } finally {
        await app.delete(`/SvcTopicDestination/${id}`);
        await app.delete('/AccessPolicy/nurse');
      }
    }

    it('H1: events are selected by the written body', async () => {
      await withDestination('own', 'Patient?family:exact=Name e', async () => {
        const family = (name: string): object => ({ resourceType: 'Patient', id: 'e', name: [{ family: name }] });
        await app.put('/Patient/e', family('Other'));
        expect(await waiting('own')).toBe(0);
        await app.put('/Patient/e', family('Name e'));
        expect(await waiting('own')).toBe(1);
        const patch = JSON.stringify({ active: true });
        await app.send('PATCH', '/Patient/e', {
          body: patch,
          headers: { 'Content-Type': 'application/merge-patch+json' },
        });
        expect(await waiting('own')).toBe(2);
        await app.put('/Patient/e', family('Other'));
        expect(await waiting('own')).toBe(2);
      });
    });

    it('H1: a write whose event depends on an unfinished chain returns 503 and changes nothing', async () => {
      await withDestination('chain', 'Observation?subject:Patient.family:exact=Name b', async () => {
        expect(outcomeOf(await app.put('/Observation/o1', observation('o1', 'amended')))).toEqual(BUSY);
        expect((await app.get('/Observation/o1')).json<{ status: string }>().status).toBe('final');
        expect(await waiting('chain')).toBe(0);
      });
    });

    it('H1: a write of another type does not wait for that chain', async () => {
      const criteria = ['Observation?subject:Patient.family:exact=Name b', 'Patient'];
      await withDestination('other', criteria, async () => {
        expect((await app.put('/Patient/f', { resourceType: 'Patient', id: 'f' })).status).toBe(201);
        expect(await waiting('other')).toBe(1);
        expect(outcomeOf(await app.put('/Observation/o1', observation('o1', 'amended')))).toEqual(BUSY);
      });
    });
  });
});
