import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SearchIndex } from '../../../src/search-index/search-index';
import { countsOf, destination, newDestination, newTopic } from '../../support/destinations';
import { type Person, login } from '../../../testing/world';
import { statementsOf } from '../../support/run-statements';
import { queryForms } from '../../support/query-forms';
import { changeHidden, storeTenants } from '../../support/tenants';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

/** Policies that grant some or all Observations, and no other type. */
const POLICIES: Readonly<Record<string, object>> = {
  'by type': { engine: 'matcho', matcho: { params: { 'resource/type': 'Observation' } } },
  'by address': { engine: 'matcho', matcho: { uri: '#^(/fhir)?/Observation(/_search)?$' } },
  'by compartment': {
    engine: 'matcho',
    matcho: { params: { 'compartment/type': 'Patient', 'compartment/id': 'own-p', 'resource/type': 'Observation' } },
  },
  'by parameters': { engine: 'matcho', matcho: { params: { 'resource/type': 'Observation', encounter: 'own-e' } } },
  'by schema': {
    engine: 'json-schema',
    schema: { properties: { params: { properties: { 'resource/type': { const: 'Observation' } } } } },
  },
  'by rows of two types': {
    engine: 'allow',
    criteria: ['Observation?subject=Patient/own-p', 'Practitioner'],
  },
};

/** The path by which a caller with this policy searches Observations. */
const placeOf = (policy: string, query: string): string => {
  if (policy === 'by compartment') return `Patient/own-p/Observation?${query}`;
  return policy === 'by parameters' ? `Observation?encounter=own-e&${query}` : `Observation?${query}`;
};

/** Names of the policies that also grant Observations of other patients. */
const OPENS_ALL = ['by type', 'by address', 'by schema'];

const TYPES = ['Patient', 'Observation', 'Encounter', 'Condition', 'List', 'Group', 'Organization', 'Questionnaire'];

interface Bundle {
  readonly total?: number;
  readonly entry?: readonly {
    readonly search?: { readonly mode: string };
    readonly resource: {
      readonly resourceType: string;
      readonly id: string;
      readonly issue?: readonly { readonly code: string; readonly diagnostics: string }[];
    };
  }[];
}

const nameOf = (policy: string): string => policy.replaceAll(' ', '-');

describe('S5: a grant for one type gives no access to other types', () => {
  let app: TestApp;
  const people = new Map<string, Person>();

  beforeAll(async () => {
    app = await startTestApp();
    await storeTenants(app);
    for (const [policy, content] of Object.entries(POLICIES)) {
      const name = nameOf(policy);
      people.set(policy, await login(app, name, { policies: [] }));
      const answer = await app.put(`/AccessPolicy/${name}`, {
        ...content,
        link: [{ resourceType: 'User', id: name }],
      });
      expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    }
  });
  afterAll(() => app.close());

  const as = (policy: string, method: string, path: string, body?: object | string): Promise<Received> =>
    app.send(method, path, {
      authorization: people.get(policy)?.bearer ?? '',
      ...(body === undefined ? {} : { body }),
    });

  const find = (policy: string, query: string): Promise<Received> =>
    as(policy, 'GET', `/fhir/${placeOf(policy, query)}`);

  const namesOf = (answer: Received): string[] =>
    (answer.json<Bundle>().entry ?? [])
      .filter(({ search }) => search?.mode !== 'outcome')
      .map(({ resource }) => `${resource.resourceType}/${resource.id}`)
      .sort();

  const outcomesOf = (answer: Received): string[] =>
    (answer.json<Bundle>().entry ?? [])
      .filter(({ search }) => search?.mode === 'outcome')
      .flatMap(({ resource }) => (resource.issue ?? []).map(({ code, diagnostics }) => `${code}: ${diagnostics}`));

  /** Sends as root, which may see the hidden rows: root's answer shows whether a query reaches them. */
  const asRoot = (path: string): Promise<Received> => app.get(`/fhir/${path}`);

  describe.each(Object.keys(POLICIES))('%s', (policy) => {
    const isByRows = policy === 'by rows of two types';

    it('finds Observations but not the Patient', async () => {
      expect(namesOf(await find(policy, '_id=own-o1'))).toEqual(['Observation/own-o1']);
      expect((await as(policy, 'GET', '/fhir/Patient/own-p')).status).toBe(isByRows ? 404 : 403);
    });

    it.each([
      '_include=Observation:subject',
      '_include=Observation:subject:Patient',
      '_include=*',
      '_include=Observation:*&_include:iterate=Patient:*',
      '_revinclude=List:item',
      '_revinclude=Condition:evidence-detail',
      '_revinclude=List:item&_include:iterate=List:subject',
    ])('leaves out the resources of other types that %s includes, and reports that', async (query) => {
      const path = placeOf(policy, `_id=own-o1&${query}`);
      const answer = await as(policy, 'GET', `/fhir/${path}`);
      expect([answer.status, namesOf(answer).filter((name) => !/^(Observation|Practitioner)\//.test(name))]).toEqual([
        200,
        [],
      ]);
      expect(namesOf(await asRoot(path)).some((name) => !name.startsWith('Observation/'))).toBe(true);
      if (!isByRows)
        expect(outcomesOf(answer)).toEqual([expect.stringMatching(/^suppressed: .*\b(Patient|List|Condition)\b/)]);
    });

    it.each([
      ['subject:Patient.name=Rivera', 'Patient'],
      ['subject:Patient.name=Nobody', 'Patient'],
      ['subject:Patient.organization.name=Canary', 'Organization'],
      ['encounter.location.name=Ward', 'Encounter'],
      ['subject.name=Rivera', 'Patient'],
      ['_has:List:item:_id=own-l', 'List'],
      ['_has:List:item:title=Canary', 'List'],
      ['_has:Observation:has-member:subject:Patient.name=Canary', 'Patient'],
      ['_list=own-l', 'List'],
      ['_list=no-such', 'List'],
      ['code:in=http://canary.example/vs', 'ValueSet'],
      ['code:not-in=http://no.example/vs', 'ValueSet'],
      ['_filter=subject.name eq Rivera', 'Patient'],
      ['_filter=status eq "final" or not (subject.name eq "Nobody")', 'Patient'],
    ])('refuses %s or finds nothing by it', async (query, type) => {
      const answer = await find(policy, query);
      if (isByRows) {
        // The policy grants rows: the caller may search every type, but rows of other types are not granted.
        expect([200, 400]).toContain(answer.status);
        if (answer.status === 200 && !query.includes('not')) expect(namesOf(answer)).toEqual([]);
        return;
      }
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining(type)]);
      expect(answer.text).toMatch(/GET \/auth\/decisions\/[\da-f-]{36}/);
    });

    it('shows a query plan only if all Observations are granted, since it counts the others too', async () => {
      const { status } = await find(policy, '_id=own-o1&_explain=1');
      expect(status).toBe(OPENS_ALL.includes(policy) ? 200 : 403);
    });

    it('cannot sort by a chain', async () => {
      expect((await find(policy, '_sort=subject.name')).status).toBe(400);
    });
  });

  it('a grant for _type=Observation covers no included or chained types', async () => {
    await login(app, 'system', { policies: [] });
    const link = [{ resourceType: 'User', id: 'system' }];
    await app.put('/AccessPolicy/system', { engine: 'matcho', link, matcho: { params: { _type: 'Observation' } } });
    people.set('system', await login(app, 'system', { policies: [] }));
    const included = await as('system', 'GET', '/fhir?_type=Observation&_id=own-o1&_include=Observation:subject');
    expect([namesOf(included), outcomesOf(included)]).toEqual([
      ['Observation/own-o1'],
      [expect.stringContaining('Patient')],
    ]);
    const chained = await as('system', 'GET', '/fhir?_type=Observation&_has:List:item:_id=own-l');
    expect([chained.status, chained.text]).toEqual([403, expect.stringContaining('List')]);
  });

  it('includes and chains work for types that the caller may search, within the row criteria', async () => {
    people.set('mixed', await login(app, 'mixed', { policies: [] }));
    const link = [{ resourceType: 'User', id: 'mixed' }];
    await app.put('/AccessPolicy/mixed', { ...POLICIES['by type'], link });
    await app.put('/AccessPolicy/mixed-rows', {
      engine: 'matcho',
      link,
      matcho: { params: { 'resource/type': 'Patient' } },
      criteria: 'Patient?_id=own-p',
    });
    const included = await as('mixed', 'GET', '/Observation?_include=Observation:subject:Patient');
    expect([namesOf(included).filter((name) => name.startsWith('Patient/')), outcomesOf(included)]).toEqual([
      ['Patient/own-p'],
      [],
    ]);
    expect(namesOf(included)).toContain('Observation/canary-o1');
    const chained = await as('mixed', 'GET', '/Observation?subject:Patient.name=Rivera,Canary');
    expect(namesOf(chained)).toEqual(['Observation/own-o1', 'Observation/own-o2', 'Observation/own-o3']);
    // A query plan counts hidden rows, so it is refused to a caller who does not have all rows.
    expect((await as('mixed', 'GET', '/Observation?subject:Patient.name=Rivera&_explain=1')).status).toBe(403);
    expect((await as('mixed', 'GET', '/Observation?_explain=1')).status).toBe(200);
  });

  it('conditional writes and conditional references reveal nothing of other types', async () => {
    const name = 'writer';
    people.set(name, await login(app, name, { policies: [] }));
    const link = [{ resourceType: 'User', id: name }];
    await app.put('/AccessPolicy/writer', { ...POLICIES['by type'], link });
    await app.put('/AccessPolicy/writer-bundles', {
      engine: 'matcho',
      link,
      matcho: { operation: { id: 'FhirBundle' } },
    });
    const observation = (subject: string): object => ({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'pulse' },
      subject: { reference: subject },
    });
    const create = await app.send('POST', '/Observation', {
      authorization: people.get(name)?.bearer ?? '',
      body: observation('Patient/own-p'),
      headers: { 'If-None-Exist': 'subject:Patient.name=Canary' },
    });
    expect([create.status, create.text]).toEqual([403, expect.stringContaining('Patient')]);
    for (const path of ['?subject:Patient.name=Canary', '?_has:List:item:title=Canary'])
      expect((await as(name, 'DELETE', `/Observation${path}`)).status).toBe(403);
    for (const type of ['transaction', 'batch']) {
      const entry = [{ request: { method: 'POST', url: 'Observation' }, resource: observation('Patient?name=Canary') }];
      const answer = await as(name, 'POST', '/fhir', { resourceType: 'Bundle', type, entry });
      if (type === 'transaction')
        expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('Patient')]);
      expect(answer.text).not.toContain('canary-p');
    }
  });

  it.each([
    ['by type', "subject.resolve().ofType(Patient).name.family.startsWith('Can')"],
    ['by type', "subject.resolve().ofType(Patient).name.family.startsWith('Zed')"],
    ['by type', 'subject.resolve().exists()'],
  ])(
    'a destination of a caller with a grant %s receives no event by the criterion %s',
    async (policy, fhirPathCriteria) => {
      const topic = await newTopic(app, { resource: 'Observation', fhirPathCriteria });
      const principal = { resourceType: 'User', id: nameOf(policy) };
      const ids = [
        await newDestination(app, destination(topic, { principal })),
        await newDestination(app, destination(topic)),
      ];
      await app.put('/Observation/told', {
        resourceType: 'Observation',
        status: 'final',
        code: { text: fhirPathCriteria },
        subject: { reference: 'Patient/canary-p' },
      });
      const [limited = 0, unlimited = 0] = await Promise.all(
        ids.map(async (id) => Object.values(await countsOf(app, id)).reduce((sum, count) => sum + count, 0)),
      );
      expect([limited, unlimited > 0]).toEqual([0, !fhirPathCriteria.includes('Zed')]);
    },
  );

  it('an include of a type that the caller may not search runs no further statements', async () => {
    const namesOfRun = (path: string): Promise<string[]> => statementsOf(app, () => as('by type', 'GET', path));
    const path = '/Observation?status=final&_count=1';
    const plain = await namesOfRun(path);
    expect(plain).toEqual(['session-find-live', expect.stringMatching(/^search-/)]);
    expect(await namesOfRun(`${path}&_include=Observation:subject:Patient`)).toEqual(plain);
  });

  /** The answers to many reads of a caller, without parts that differ by request and reveal no row. */
  async function answersTo(authorization: string | undefined, paths: readonly string[]): Promise<string[]> {
    const answers: string[] = [];
    for (let at = 0; at < paths.length; at += 150) {
      const entry = paths.slice(at, at + 150).map((url) => ({ request: { method: 'GET', url: encodeURI(url) } }));
      const sent = authorization === undefined ? {} : { authorization };
      const answer = await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry }, sent);
      const { entry: answered = [] } = answer.json<{ entry?: object[] }>();
      expect([answer.status, answered.length]).toEqual([200, entry.length]);
      answers.push(...answered.map((one) => JSON.stringify(one).replace(/_txid=\d+|decisions\/[\da-f-]+/g, '')));
    }
    return answers;
  }

  it('no form of query reveals a hidden type, or that it changes', async () => {
    for (const policy of people.keys()) {
      const link = [{ resourceType: 'User', id: nameOf(policy) }];
      const id = `${nameOf(policy)}-bundles`;
      await app.put(`/AccessPolicy/${id}`, { engine: 'matcho', link, matcho: { operation: { id: 'FhirBundle' } } });
    }
    const forms = queryForms(app.app.get(SearchIndex, { strict: false }).builtIn, ['Observation'], TYPES)
      .filter((path) => path.startsWith('Observation?') && !path.includes('_explain'))
      .map((path) => path.slice('Observation?'.length));
    const policies = Object.keys(POLICIES);
    // The caller of the first policy sends all forms, and each other caller a third of them.
    const asked = policies.map((policy, first) =>
      forms.filter((_form, at) => first === 0 || at % 3 === first % 3).map((form) => placeOf(policy, form)),
    );
    const sample = asked[0]?.filter((query, at) => /\w:\w+\.|_include|_has/.test(query) && at % 4 === 0) ?? [];
    const answers = async (): Promise<string[][]> => {
      const all: string[][] = [];
      for (const [at, policy] of policies.entries())
        all.push(await answersTo(people.get(policy)?.bearer, asked[at] ?? []));
      return [...all, await answersTo(undefined, sample)];
    };
    const before = await answers();
    await changeHidden(app, (type) => type !== 'Observation');
    const after = await answers();
    for (const [at, policy] of policies.entries()) {
      const queries = asked[at] ?? [];
      expect([policy, queries.filter((_query, i) => before[at]?.[i] !== after[at]?.[i])]).toEqual([policy, []]);
      const revealing = queries.filter((_query, i) => revealsHidden(policy, before[at]?.[i] ?? ''));
      expect([policy, revealing]).toEqual([policy, []]);
    }
    const last = policies.length;
    expect(sample.filter((_query, i) => before[last]?.[i] !== after[last]?.[i]).length).toBeGreaterThan(2);
  }, 120_000);
});

/** Whether an answer contains a resource of a hidden type. */
const revealsHidden = (policy: string, answer: string): boolean =>
  new RegExp(`"resourceType":"(${TYPES.filter((type) => type !== 'Observation').join('|')})"`).test(answer) ||
  (!OPENS_ALL.includes(policy) && answer.includes('"id":"canary'));
