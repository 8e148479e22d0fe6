import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { declareRestore, releaseDelivery } from '../../tools/after-restore/declare-restore';
import { type ClonedDatabase } from '../../testing/test-databases';
import { eventually } from '../../testing/eventually';
import { basicHeader, startTestApp, type TestApp } from '../../testing/test-app';
import { type NotificationBody, WebhookReceiver } from '../../testing/webhook-receiver';
import { type Kept, KEPT_KEY, keptAnswers, restoreKept } from './kept-database';

/** A sent resource, reduced to the members that the oracles of this file read. */
interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly status?: string;
  readonly gender?: string;
  readonly birthDate?: string;
  readonly effectiveDateTime?: string;
  readonly name?: readonly { readonly family?: string; readonly given?: readonly string[] }[];
  readonly identifier?: readonly { readonly system: string; readonly value: string }[];
  readonly code?: { readonly text?: string; readonly coding?: readonly { readonly code: string }[] };
  readonly valueQuantity?: { readonly value: number; readonly code: string };
  readonly subject?: { readonly reference: string };
  readonly encounter?: { readonly reference: string };
  readonly managingOrganization?: object;
}

type Test = (resource: Resource, all: readonly Resource[]) => boolean;

const familyOf = ({ name }: Resource): string => name?.[0]?.family ?? '';
const isOf =
  (code: string): Test =>
  (resource) =>
    resource.code?.coding?.some((coding) => coding.code === code) ?? false;
const value = ({ valueQuantity }: Resource): number => valueQuantity?.value ?? NaN;
const instant = ({ effectiveDateTime = '' }: Resource): number => Date.parse(effectiveDateTime);
const subjectOf = (resource: Resource, all: readonly Resource[]): Resource | undefined =>
  all.find(({ resourceType, id }) => `${resourceType}/${id}` === resource.subject?.reference);

/** One search of each kind, with a test for its matches. */
const SEARCHES: readonly (readonly [query: string, type: string, test: Test])[] = [
  ['Patient?family=munoz', 'Patient', (one) => familyOf(one) === 'Muñoz'],
  ['Patient?family:exact=Straße', 'Patient', (one) => familyOf(one) === 'Straße'],
  ['Patient?family:contains=crU', 'Patient', (one) => familyOf(one).includes('Cru')],
  ['Patient?name=renamed2', 'Patient', (one) => familyOf(one) === 'Renamed2'],
  ['Patient?family=renamed1', 'Patient', () => false],
  ['Patient?given=maria', 'Patient', (one) => one.name?.[0]?.given?.includes('Maria') ?? false],
  ['Patient?gender=female', 'Patient', (one) => one.gender === 'female'],
  ['Patient?gender:not=female', 'Patient', (one) => one.gender !== 'female'],
  ['Patient?organization:missing=true', 'Patient', (one) => one.managingOrganization === undefined],
  ['Patient?organization=Organization/o1', 'Patient', (one) => one.managingOrganization !== undefined],
  ['Patient?birthdate=ge1975', 'Patient', ({ birthDate = '' }) => birthDate >= '1975'],
  ['Patient?identifier=urn:mrn|M-1-7', 'Patient', ({ identifier }) => identifier?.[0]?.value === 'M-1-7'],
  [
    'Patient?_has:Observation:subject:status=amended',
    'Patient',
    ({ id }, all) => all.some(({ status, subject }) => status === 'amended' && subject?.reference === `Patient/${id}`),
  ],
  ['Observation?code=http://loinc.org|8867-4', 'Observation', isOf('8867-4')],
  [
    'Observation?code=8867-4&status=final',
    'Observation',
    (one, all) => isOf('8867-4')(one, all) && one.status === 'final',
  ],
  ['Observation?value-quantity=gt20', 'Observation', (one) => value(one) > 20],
  [
    'Observation?code-value-quantity=http://loinc.org|29463-7$lt5000|http://unitsofmeasure.org|g',
    'Observation',
    (one, all) => isOf('29463-7')(one, all) && value(one) < 5,
  ],
  [
    'Observation?date=lt2024-05-01T00:00:00Z',
    'Observation',
    (one) => instant(one) < Date.parse('2024-05-01T00:00:00Z'),
  ],
  ['Observation?patient=p3', 'Observation', (one) => one.subject?.reference === 'Patient/p3'],
  ['Observation?encounter=Encounter/e2', 'Observation', (one) => one.encounter?.reference === 'Encounter/e2'],
  [
    'Observation?subject:Patient.family=renamed',
    'Observation',
    (one, all) => familyOf(subjectOf(one, all) ?? one).startsWith('Renamed'),
  ],
  ['Location?near=47.37|8.54|5|km', 'Location', () => true],
  ['Medication?code=urn:drug|ibu', 'Medication', () => true],
  ['Questionnaire?url=http://forms.example/q1', 'Questionnaire', () => true],
  ['Appointment?date=2024-05-01', 'Appointment', () => true],
  ['Flag?finding=fall', 'Flag', () => true],
];

/**
 * The specs of the kept database of a release. Each release needs a separate spec file, since a process serves
 * databases of one hash key only.
 */
export const describeUpgrade = (release: string): void => {
  describe(`a database of release ${release} after the upgrade`, () => {
    let database: ClonedDatabase;
    let app: TestApp;
    let kept: Kept;
    let resources: Resource[];

    beforeAll(async () => {
      kept = keptAnswers(release);
      resources = Object.entries(kept.answers)
        .filter(([path, { status }]) => path.startsWith('/fhir/') && !path.includes('/_history/') && status === 200)
        .map(([, { text }]) => JSON.parse(text) as Resource);
      database = await restoreKept(release);
      await declareRestore(database.url);
      app = await startTestApp({
        databaseUrl: database.url,
        environment: { SVC_ENCRYPTION_KEY: KEPT_KEY, SVC_DELIVERY_POLL_MILLISECONDS: '100' },
      });
    }, 60_000);
    afterAll(async () => {
      await app.close();
      await database.drop();
    });

    const idsOf = async (query: string): Promise<string[]> => {
      const answer = await app.get(`/fhir/${query}&_count=1000`);
      expect([query, answer.status]).toEqual([query, 200]);
      const { entry = [] } = answer.json<{ entry?: { resource: { id: string } }[] }>();
      return entry.map(({ resource }) => resource.id).sort();
    };
    const expectSearches = async (): Promise<void> => {
      for (const [query, type, test] of SEARCHES) {
        const meant = resources.filter((one) => one.resourceType === type && test(one, resources));
        expect([query, await idsOf(query)]).toEqual([query, meant.map(({ id }) => id).sort()]);
      }
    };
    const bearer = (of: keyof Kept['tokens']): { authorization: string } => ({
      authorization: `Bearer ${kept.tokens[of].access_token}`,
    });
    const refresh = (of: keyof Kept['tokens'], client: string): Promise<{ status: number; text: string }> =>
      app.post(
        '/auth/token',
        new URLSearchParams({
          grant_type: 'refresh_token',
          refresh_token: kept.tokens[of].refresh_token,
        }).toString(),
        {
          authorization: basicHeader(`app-${client}`, `secret-${client}`),
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        },
      );
    const verify = async (id: string): Promise<object> => {
      const target = { resourceType: 'SDCDocument', id };
      const answer = await app.post('/rpc', { method: 'svc.sdc.addendum/verify', params: { target } });
      return answer.json<{ result: object }>().result;
    };

    it('O6: contains data of every kind', () => {
      const types = new Set(
        Object.keys(kept.answers).map((path) => path.split('/')[path.startsWith('/fhir/') ? 2 : 1]),
      );
      expect(types.size).toBeGreaterThanOrEqual(30);
      expect(Object.keys(kept.answers).length).toBeGreaterThan(300);
    });

    it('O6: returns resources and versions byte for byte as before', async () => {
      for (const [path, { status, text }] of Object.entries(kept.answers)) {
        const answer = await app.get(path);
        expect([path, answer.status, ...(status === 200 ? [answer.text] : [])]).toEqual([
          path,
          status,
          ...(status === 200 ? [text] : []),
        ]);
      }
    });

    it('O6: completes the index that was half built, and builds the indexes that this release needs', async () => {
      await eventually(
        'all indexes are complete',
        async () => !(await app.get('/fhir/SearchParameter/$index-status')).text.includes('"index"'),
        60_000,
      );
      expect((await app.get('/fhir/SearchParameter/live-colour/$index-status')).text).toContain('"active"');
      const ids = Array.from({ length: 450 }, (_one, n) => n);
      const meant = ids.filter((n) => n % 7 === 3).map((n) => `b${n}`);
      expect(await idsOf('Basic?colour=colour 3')).toEqual(meant.sort());
    }, 60_000);

    it('O6: finds the resources by all kinds of search', expectSearches);

    it('O6: accepts the tokens, rights and passwords of the release', async () => {
      for (const name of ['jwt', 'opaque', 'next'] as const) {
        expect([name, (await app.get('/fhir/Patient/p3', bearer(name))).status]).toEqual([name, 200]);
      }
      for (const name of ['closed', 'used'] as const) {
        expect([name, (await app.get('/fhir/Patient/p3', bearer(name))).status]).toEqual([name, 401]);
      }
      expect((await refresh('jwt', 'jwt')).status).toBe(200);
      expect((await refresh('jwt', 'jwt')).status).toBe(400);
      expect((await refresh('used', 'opaque')).status).toBe(400);
      const login = await app.post(
        '/auth/token',
        { grant_type: 'password', username: 'nurse', password: 'password of nurse' },
        { authorization: basicHeader('app-opaque', 'secret-opaque') },
      );
      expect(login.status).toBe(200);
    });

    it('O6: shows a limited User only the granted rows', async () => {
      const seen = async (query: string): Promise<string[]> => {
        const { entry = [] } = (await app.get(`/fhir/${query}`, bearer('limited'))).json<{
          entry?: { resource: { id: string } }[];
        }>();
        return entry.map(({ resource }) => resource.id).sort();
      };
      expect(await seen('Patient?_count=100')).toEqual(['p1', 'p2']);
      const granted = resources.filter(
        ({ resourceType, status, subject }) =>
          resourceType === 'Observation' &&
          status === 'final' &&
          ['Patient/p1', 'Patient/p2'].includes(subject?.reference ?? ''),
      );
      expect(granted.length).toBeGreaterThan(3);
      expect(await seen('Observation?_count=100')).toEqual(granted.map(({ id }) => id).sort());
      expect((await app.get('/fhir/Patient/p2', bearer('limited'))).status).toBe(200);
      expect((await app.get('/fhir/Patient/p3', bearer('limited'))).status).not.toBe(200);
    });

    it('O6: verifies the chains of addenda as intact, and extends them', async () => {
      for (const id of ['doc1', 'doc2']) {
        const before = await verify(id);
        expect(before).toMatchObject({ intact: true });
        const params = {
          target: { resourceType: 'SDCDocument', id },
          user: { resourceType: 'User', id: 'nurse' },
          text: 'Later',
        };
        expect((await app.post('/rpc', { method: 'svc.sdc.addendum/add-note', params })).status).toBe(200);
        const { length } = before as { length: number };
        expect(await verify(id)).toMatchObject({ intact: true, length: length + 1 });
      }
    });

    it('O6: finds new versions, and no longer the replaced ones', async () => {
      const change = async (type: string, id: string, members: object): Promise<void> => {
        const index = resources.findIndex((one) => one.resourceType === type && one.id === id);
        const next = { ...resources[index], ...members, resourceType: type, id } as Resource;
        expect((await app.put(`/fhir/${type}/${id}`, next)).status).toBe(200);
        resources[index] = next;
      };
      await change('Patient', 'p7', {
        name: [{ family: 'Muñoz', given: ['Now'] }],
        gender: 'other',
        birthDate: '1999-01-01',
      });
      await change('Patient', 'p1', { name: [{ family: 'Straße' }] });
      await change('Observation', 'v1', {
        status: 'amended',
        valueQuantity: { ...{ value: 99, unit: 'kg' }, ...{ system: 'http://unitsofmeasure.org', code: 'kg' } },
      });
      await change('Observation', 'v2', { subject: { reference: 'Patient/p20' }, effectiveDateTime: '2020-01-01' });
      expect((await app.delete('/fhir/Observation/v3')).status).toBe(200);
      resources = resources.filter(({ resourceType, id }) => resourceType !== 'Observation' || id !== 'v3');
      await expectSearches();
    });

    it('O6: delivers nothing until the delivery of a restored database is released, then each event once and in order', async () => {
      const receiver = await WebhookReceiver.start();
      try {
        const ids = ['done', 'half', 'hang', 'queued'];
        for (const id of ids) await setEndpoint(id, `http://127.0.0.1:${receiver.port}/${id}`);
        const status = (await app.get('/fhir/SvcTopicDestination/half/$status')).text;
        expect(status).toContain('"held"');
        await new Promise((resolve) => setTimeout(resolve, 500));
        expect(receiver.requests).toEqual([]);
        await releaseDelivery(database.url);
        await eventually(
          'all events are delivered',
          async () => {
            const all = await Promise.all(ids.map((id) => app.get(`/fhir/SvcTopicDestination/${id}/$status`)));
            return all.every(({ text }) => text.includes('{"name":"messagesDelivered","valueDecimal":9}'));
          },
          60_000,
        );
        for (const id of ids) {
          const before = kept.received.filter(({ path, isTaken }) => path === `/${id}` && isTaken);
          const after = receiver.requests.filter(({ path }) => path.endsWith(`/${id}`));
          const events = [...before, ...after].flatMap(({ body }) => eventsOf(body));
          expect([id, events]).toEqual([id, EVENTS]);
          const open = kept.received.find(({ path, isTaken }) => path === `/${id}` && !isTaken);
          if (open !== undefined) expect(after[0]?.headers['webhook-id']).toBe(open.id);
        }
      } finally {
        await receiver.stop();
      }
    }, 90_000);

    async function setEndpoint(id: string, url: string): Promise<void> {
      const path = `/fhir/SvcTopicDestination/${id}`;
      const stored = (await app.get(path)).json<{ parameter: { name: string }[] }>();
      const parameter = stored.parameter.map((one) => (one.name === 'endpoint' ? { ...one, valueUrl: url } : one));
      const answer = await app.put(path, { ...stored, parameter });
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    }
  });
};

/** The events of each destination of a kept database, with their numbers. */
const EVENTS = [
  ...['1 f1', '2 f2', '3 f3'],
  ...['4 f1', '5 f2', '6 f3', '7 f4', '8 f5'], // f1 to f3 are updated, f4 and f5 created
  '9 f2', // deleted
];

const eventsOf = (body: string): string[] =>
  (JSON.parse(body) as NotificationBody).entry[0].resource.notificationEvent.map(
    ({ eventNumber, focus }) => `${eventNumber} ${focus.reference.split('/').at(-1) ?? ''}`,
  );
