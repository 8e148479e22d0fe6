import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle, nextOf } from '../../support/bundle';
import { type Person, login } from '../../../testing/world';
import { changeHidden, storeTenants } from '../../support/tenants';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

const PATH = '/fhir/Patient/own-p/$everything';

const OF_PATIENT = ['Patient?_id=own-p', 'Observation?subject=Patient/own-p'];
const OF_CARE = ['Encounter', 'Condition', 'List', 'QuestionnaireResponse'].map(
  (type) => `${type}?subject=Patient/own-p`,
);

const OBSERVATIONS = ['Observation/own-o1', 'Observation/own-o2', 'Observation/own-o3'];
const GRANTED = [
  ...['Condition/own-c', 'Encounter/own-e', 'List/own-l'],
  ...[...OBSERVATIONS, 'Patient/own-p', 'QuestionnaireResponse/own-r'],
];

/** Resources in the compartment of the granted patient that are not granted themselves. */
const HIDDEN_MEMBERS = [
  {
    resourceType: 'Flag',
    id: 'canary-f',
    status: 'active',
    code: { text: 'canary' },
    subject: { reference: 'Patient/own-p' },
  },
  {
    ...{ resourceType: 'Observation', id: 'canary-by-own', status: 'final', code: { text: 'canary' } },
    ...{ subject: { reference: 'Patient/canary-p' }, performer: [{ reference: 'Patient/own-p' }] },
  },
];

/** Queries of the patient's compartment. Only the rights of the caller narrow them, unless a test adds a filter. */
const QUERIES = [
  ...['', '?_summary=count', '?_summary=true', '?_summary=data', '?_elements=subject', '?_since=2001', '?start=2001'],
  ...['?_type=Observation,Flag,Group,Patient', '?_type=Flag', '?_type=Group,List&end=2030'],
  ...['?_manifest=1', '?_manifest=1&_type=Flag,Observation&start=2001', '?_count=0', '?_count=3', '?_count=1000'],
  ...['?_format=ndjson', '?_format=ndjson&_include=*', '?_include=*', '?_include=Organization', '?_format=yaml'],
  ...['?_include=Observation:has-member,Patient:organization', '?_include=*&_type=Patient&_count=2'],
];

describe('Patient/$everything for callers who are limited to rows', () => {
  let app: TestApp;
  let ana: Person;
  let eve: Person;

  beforeAll(async () => {
    app = await startTestApp();
    [ana, eve] = [await login(app, 'ana', { policies: [] }), await login(app, 'eve', { policies: [] })];
    await storeTenants(app);
    for (const resource of HIDDEN_MEMBERS) await app.put(`/fhir/${resource.resourceType}/${resource.id}`, resource);
    await grant();
  });
  afterAll(() => app.close());

  const grant = async (): Promise<void> => {
    const link = [{ resourceType: 'User', id: 'ana' }];
    await app.put('/AccessPolicy/of-patient', { engine: 'allow', link, criteria: OF_PATIENT });
    await app.put('/AccessPolicy/of-care', { engine: 'allow', link, criteria: OF_CARE });
  };
  const as = ({ bearer: authorization }: Person, path: string, headers = {}): Promise<Received> =>
    app.get(path, { authorization, headers });
  const namesOf = ({ entry }: Bundle): string[] =>
    entry.map(({ resource }) => `${resource.resourceType}/${resource.id}`).sort();

  it('returns only the granted part of the compartment; root gets more', async () => {
    const answer = (await as(ana, PATH)).json<Bundle>();
    expect([namesOf(answer), answer.total]).toEqual([GRANTED, GRANTED.length]);
    expect(namesOf((await app.get(PATH)).json<Bundle>())).toEqual(
      expect.arrayContaining([
        ...GRANTED,
        'Flag/canary-f',
        'Group/canary-g',
        'Observation/canary-by-own',
        'Patient/canary-p',
      ]),
    );
  });

  it.each(['_type=Flag', '_type=Group', '_type=Flag,Group&_summary=count'])(
    'returns nothing with ?%s',
    async (query) => {
      const { total, entry = [] } = (await as(ana, `${PATH}?${query}`)).json<Partial<Bundle>>();
      expect([total, entry]).toEqual([0, []]);
    },
  );

  it('returns the same for a POST', async () => {
    const body = { resourceType: 'Parameters', parameter: [{ name: '_type', valueCode: 'Observation,Flag' }] };
    const answer = await app.post(PATH, body, { authorization: ana.bearer });
    expect(namesOf(answer.json<Bundle>())).toEqual(OBSERVATIONS);
  });

  it('returns the same before and after changes of hidden resources', async () => {
    const answers = async (): Promise<string[]> => {
      const all: string[] = [];
      for (const query of QUERIES) {
        let text = '';
        for (let next: string | undefined = `${PATH}${query}`; next !== undefined;) {
          const answer = await as(ana, next);
          expect([query, answer.status]).toEqual([query, 200]);
          text += answer.text.replace(/_cursor=[^"&]*/g, '_cursor=');
          next = query.includes('_count=') ? nextOf(answer.json<Bundle>()) : undefined;
        }
        all.push(text);
      }
      return all;
    };
    const before = await answers();
    const changed = async (): Promise<string[]> => {
      const after = await answers();
      return QUERIES.filter((_query, at) => after[at] !== before[at]);
    };
    await changeHidden(app);
    for (const { resourceType, id } of HIDDEN_MEMBERS) await app.delete(`/fhir/${resourceType}/${id}`);
    expect(await changed()).toEqual([]);
    for (const resource of HIDDEN_MEMBERS) await app.put(`/fhir/${resource.resourceType}/${resource.id}`, resource);
    expect(await changed()).toEqual([]);
  }, 90_000);

  it('answers as for an unknown patient if the caller may not read the patient', async () => {
    await app.put('/AccessPolicy/of-eve', {
      engine: 'allow',
      link: [{ resourceType: 'User', id: 'eve' }],
      criteria: OF_CARE,
    });
    for (const query of QUERIES) {
      const hidden = await as(eve, `${PATH}${query}`);
      const missing = await as(eve, `${PATH.replace('own-p', 'no-such')}${query}`);
      expect([hidden.status, hidden.text]).toEqual([404, missing.text.replaceAll('no-such', 'own-p')]);
    }
  });

  it('includes no hidden resource, as Bundle and as NDJSON', async () => {
    const { entry, total } = (await as(ana, `${PATH}?_include=*`)).json<Bundle>();
    const names = entry.map(({ resource }) => `${resource.resourceType}/${resource.id}`).sort();
    // Neither the patient's organization nor the practitioner is granted.
    expect([names, total]).toEqual([GRANTED, GRANTED.length]);
    const { text } = await as(ana, `${PATH}?_include=*`, { Accept: 'application/fhir+ndjson' });
    const lines = text.split('\n').slice(0, -1);
    expect(lines.map((line) => JSON.parse(line) as { id: string }).map(({ id }) => id)).toEqual(
      entry.map(({ resource }) => resource.id),
    );
  });

  it('has a manifest that says that rights left something out, but not how much', async () => {
    const { text } = await as(ana, `${PATH}?_manifest=1`);
    expect(text).toContain('{"name":"complete","valueBoolean":false}');
    expect(text).toContain('{"name":"left-out","part":[{"name":"by","valueCode":"rights"}]}');
    expect(text).not.toMatch(/Flag|Group/);
    expect((await app.get(`${PATH}?_manifest=1`)).text).toContain('{"name":"complete","valueBoolean":true}');
  });

  it.each([
    PATH,
    `${PATH}?_include=*`,
    `${PATH}?_format=ndjson&_include=Patient:organization`,
    `${PATH}?_count=1&_include=*`,
    '/fhir/Patient?_id=own-p&_include=Patient:organization',
    '/fhir/Patient?_id=own-p&_revinclude=Observation:subject',
    '/fhir?_type=Patient,Observation&_count=100',
  ])('S5: returns only the one type that is granted: %s', async (path) => {
    const { bearer: authorization } = await login(app, 'una', { policies: [] });
    const link = [{ resourceType: 'User', id: 'una' }];
    await app.put('/AccessPolicy/of-una', { engine: 'allow', link, criteria: ['Patient'] });
    const { status, text } = await app.get(path, { authorization });
    expect([status, [...text.matchAll(/"resourceType":"(\w+)"/g)].map(([, type]) => type)]).toEqual([
      200,
      expect.not.arrayContaining(['Observation', 'Organization', 'Flag', 'Encounter']),
    ]);
    expect(text).toContain('"resourceType":"Patient"');
    expect(text).not.toMatch(/"resourceType":"(?!Patient|Bundle)/);
  });

  it('refuses _explain', async () => {
    const answer = await as(ana, `${PATH}?_explain=1`);
    expect([answer.status, answer.text]).toEqual([403, expect.not.stringContaining('select')]);
  });

  describe('with a policy for exact requests', () => {
    let max: Person;
    const policy = (id: string, content: object, link: object[] = []): Promise<unknown> =>
      app.put(`/AccessPolicy/${id}`, { link: [{ resourceType: 'User', id: 'max' }, ...link], ...content });
    const typesOf = ({ entry }: Bundle): string[] => [...new Set(entry.map(({ resource }) => resource.resourceType))];

    beforeAll(async () => {
      max = await login(app, 'max', { policies: [] });
      await policy('of-max', { engine: 'matcho', matcho: { uri: '#everything$' } });
    });

    it('S5: is refused to a caller who may not search Patients, and names the type', async () => {
      const { status, text } = await as(max, PATH);
      expect([status, text]).toEqual([403, expect.stringContaining('Patient')]);
    });

    it('S5: returns the types that the caller may search, and names the others, whether stored or not', async () => {
      await policy('max-searches', { engine: 'matcho', matcho: { uri: '#^(/fhir)?/(Patient|Observation)$' } });
      const answer = await as(max, PATH);
      const bundle = answer.json<Bundle>();
      expect([answer.status, typesOf(bundle)]).toEqual([200, ['Patient', 'Observation', 'OperationOutcome']]);
      expect(bundle.total).toBe(bundle.entry.length - 1);
      const { search, resource } = bundle.entry.at(-1) ?? {};
      expect([search?.mode, JSON.stringify(resource)]).toEqual([
        'outcome',
        expect.stringMatching(/Encounter, .*VisionP/),
      ]);
      const included = (await as(max, `${PATH}?_include=*&_count=2`)).json<Bundle>();
      expect(JSON.stringify(included)).toContain('Organization, ');
      expect(typesOf(included)).not.toContain('Organization');
      const { text } = await as(max, `${PATH}?_format=ndjson&_include=*`);
      expect(text).not.toMatch(/"resourceType":"(?!Patient|Observation|OperationOutcome)/);
      expect((await as(max, `${PATH}?_manifest=1`)).text).toMatch(
        /"valueCode":"rights"},{"name":"code","valueCode":"Account"/,
      );
    });

    it('S5: returns everything if the policy is linked to the Operation', async () => {
      const link = [{ resourceType: 'Operation', id: 'FhirEverything' }];
      await app.put('/AccessPolicy/operation', { engine: 'matcho', matcho: { uri: '#own-p/.everything$' }, link });
      const whole = (await app.get(PATH)).json<Bundle>();
      expect(namesOf((await as(max, PATH)).json<Bundle>())).toEqual(namesOf(whole));
      // The plan also counts rows of other patients.
      expect((await as(max, `${PATH}?_explain=1`)).status).toBe(403);
      await app.delete('/AccessPolicy/operation');
    });
  });

  describe('pages of a list that was begun with more rights', () => {
    const first = async (): Promise<Bundle> => (await as(ana, `${PATH}?_count=2`)).json<Bundle>();
    const rest = async (page: Bundle, who = ana): Promise<Received[]> => {
      const answers: Received[] = [];
      for (let next = nextOf(page); next !== undefined;) {
        const answer = await as(who, next);
        answers.push(answer);
        next = answer.status === 200 ? nextOf(answer.json<Bundle>()) : undefined;
      }
      return answers;
    };
    const idsOf = (answers: readonly Received[]): string[] =>
      answers.flatMap((answer) => answer.json<Bundle>().entry.map(({ resource }) => resource.id));

    it('leave out resources whose grant was removed meanwhile, and say that something is missing', async () => {
      const page = await first();
      await app.delete('/AccessPolicy/of-care');
      const answers = await rest(page);
      expect(idsOf(answers)).toEqual(expect.arrayContaining(['own-o1', 'own-o2', 'own-o3']));
      const text = answers.map((answer) => answer.text).join();
      expect(text).not.toMatch(/"resourceType":"(?:Condition|Encounter|List|QuestionnaireResponse)"/);
      expect(text).toContain('OperationOutcome');
      await grant();
    });

    it('leave out resources that moved to another patient meanwhile', async () => {
      const page = await first();
      const stored = (await app.get('/fhir/Observation/own-o2')).json<object>();
      await app.put('/fhir/Observation/own-o2', { ...stored, subject: { reference: 'Patient/canary-p' } });
      expect(idsOf(await rest(page))).not.toContain('own-o2');
      await app.put('/fhir/Observation/own-o2', stored);
    });

    it('are refused to a caller without any rights left', async () => {
      const page = await first();
      await app.delete('/AccessPolicy/of-care');
      await app.delete('/AccessPolicy/of-patient');
      expect((await rest(page)).map(({ status }) => status)).toEqual([403]);
      await grant();
    });

    it('are refused to other callers', async () => {
      const page = await first();
      expect((await rest(page, eve)).map(({ status }) => status)).toEqual([403]);
      expect((await app.get(nextOf(page) ?? '')).status).toBe(403);
    });
  });
});
