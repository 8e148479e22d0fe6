import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SearchIndex } from '../../../src/search-index/search-index';
import { type Person, login } from '../../../testing/world';
import { queryForms } from '../../support/query-forms';
import { HIDDEN_NAMES, OWN_NAMES, changeHidden, storeTenants } from '../../support/tenants';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

const TYPES = [
  ...['Patient', 'Observation', 'Encounter', 'Condition', 'List', 'Group', 'Organization', 'Practitioner'],
  ...['Questionnaire', 'QuestionnaireResponse'],
];

/** The criteria of the two callers: by patient, or by ward. */
const LIMITS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  ana: [
    ['Patient?_id={{user.data.patient}}', 'Observation?subject=Patient/{{user.data.patient}}'],
    [
      ...['Encounter', 'Condition', 'List'].map((type) => `${type}?subject=Patient/{{user.data.patient}}`),
      'Location?_id=own-ward',
      'Practitioner',
      'Questionnaire?version=1',
      'QuestionnaireResponse?subject=Patient/own-p',
    ],
  ],
  wes: [
    [
      'Location?_id={{user.data.ward}}',
      'Encounter?location=Location/{{user.data.ward}}',
      'Patient?_has:Encounter:patient:location=Location/{{user.data.ward}}',
      ...['Observation', 'Condition', 'List'].map(
        (type) => `${type}?encounter:Encounter.location=Location/{{user.data.ward}}`,
      ),
      'Practitioner',
      'Questionnaire?_id=own-q',
      'QuestionnaireResponse?encounter.location=Location/own-ward',
    ],
  ],
};

const BATCH = 150;

interface Bundle {
  readonly total?: number;
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly { readonly resource?: { readonly resourceType: string; readonly id: string } }[];
}

describe('callers who are limited to rows', () => {
  let app: TestApp;
  const people = new Map<string, Person>();

  beforeAll(async () => {
    app = await startTestApp();
    for (const [name, policies] of Object.entries(LIMITS)) {
      const person = await login(app, name, { policies: [] });
      people.set(name, person);
      const user = (await app.get(`/User/${name}`)).json<object>();
      await app.put(`/User/${name}`, { ...user, data: { patient: 'own-p', ward: 'own-ward' } });
      for (const [at, criteria] of policies.entries()) {
        const link = [{ resourceType: 'User', id: name }];
        const answer = await app.put(`/AccessPolicy/${name}-${at}`, { engine: 'allow', link, criteria });
        expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
      }
    }
    await storeTenants(app);
  });
  afterAll(() => app.close());

  const as = (name: string, method: string, path: string, body?: object | string): Promise<Received> =>
    app.send(method, path, {
      authorization: people.get(name)?.bearer ?? '',
      ...(body === undefined ? {} : { body }),
    });

  const namesOf = (answer: Received): string[] =>
    (answer.json<Bundle>().entry ?? []).map(({ resource }) => `${resource?.resourceType}/${resource?.id}`).sort();

  /** The answers to many reads of a caller, without times and numbers that reveal no row. */
  async function answersTo(authorization: string | undefined, paths: readonly string[]): Promise<string[]> {
    const answers: string[] = [];
    for (let at = 0; at < paths.length; at += BATCH) {
      const entry = paths.slice(at, at + BATCH).map((url) => ({ request: { method: 'GET', url: encodeURI(url) } }));
      const answer = await app.post(
        '/fhir',
        { resourceType: 'Bundle', type: 'batch', entry },
        authorization === undefined ? {} : { authorization },
      );
      const { entry: answered = [] } = answer.json<{ entry?: object[] }>();
      expect([answer.status, answered.length]).toEqual([200, entry.length]);
      answers.push(...answered.map((one) => JSON.stringify(one).replace(/_txid=\d+/g, '_txid=')));
    }
    return answers;
  }

  describe.each(Object.keys(LIMITS))('%s', (name) => {
    it.each(TYPES)('finds all granted %s resources, and no others', async (type) => {
      const answer = await as(name, 'GET', `/${type}`);
      const granted = OWN_NAMES.filter((one) => one.startsWith(`${type}/`)).sort();
      expect([answer.status, namesOf(answer), answer.json<Bundle>().total]).toEqual([200, granted, granted.length]);
    });

    it('reads the granted resources, and gets 404 for others as for ids that are not stored', async () => {
      for (const path of OWN_NAMES) {
        expect((await as(name, 'GET', `/${path}`)).status).toBe(200);
        expect((await as(name, 'GET', `/${path}/_history/1`)).status).toBe(200);
        expect(namesOf(await as(name, 'GET', `/${path}/_history`))[0]).toBe(path);
      }
      for (const path of HIDDEN_NAMES) {
        const [type = '', id = ''] = path.split('/');
        for (const suffix of ['', '/_history', '/_history/1', '/_history/7']) {
          const [hidden, missing] = [
            await as(name, 'GET', `/${path}${suffix}`),
            await as(name, 'GET', `/${type}/no-${id}${suffix}`),
          ];
          expect([path, suffix, hidden.status]).toEqual([path, suffix, 404]);
          expect(hidden.text).toBe(missing.text.replaceAll(`no-${id}`, id));
        }
      }
    });

    it('gets 304 only for granted resources', async () => {
      const read = (path: string): Promise<Received> =>
        app.send('GET', path, {
          authorization: people.get(name)?.bearer ?? '',
          headers: { 'If-None-Match': 'W/"1"', 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
        });
      expect((await read('/Patient/own-p')).status).toBe(304);
      expect((await read('/Patient/canary-p')).status).toBe(404);
    });

    it('includes only granted resources', async () => {
      const included = async (query: string): Promise<string[]> =>
        namesOf(await as(name, 'GET', `/Observation?_id=own-o1&${query}`));
      expect(await included('_include=Observation:has-member')).toEqual(['Observation/own-o1']);
      expect(await included('_revinclude=Observation:has-member')).toEqual(['Observation/own-o1']);
      expect(await included('_include=Observation:*')).toEqual(
        expect.arrayContaining(['Patient/own-p', 'Practitioner/own-doctor', 'Encounter/own-e']),
      );
      expect((await included('_include=*&_include:iterate=Patient:*')).join()).not.toMatch(/canary/);
    });

    it('gets the version of a canonical that is granted, even if a newer one is hidden', async () => {
      const included = async (query: string): Promise<string[]> => namesOf(await as(name, 'GET', `/${query}`));
      expect(await included('QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire')).toEqual([
        'Questionnaire/own-q',
        'QuestionnaireResponse/own-r',
      ]);
      expect(await included('Questionnaire?_revinclude=QuestionnaireResponse:questionnaire')).toEqual([
        'Questionnaire/own-q',
        'QuestionnaireResponse/own-r',
      ]);
      expect(await included('QuestionnaireResponse?_include=QuestionnaireResponse:author')).toHaveLength(1);
    });

    it('gets only the history of granted resources', async () => {
      const history = await as(name, 'GET', '/_history?_count=100');
      expect(new Set(namesOf(history))).toEqual(new Set(OWN_NAMES));
      expect(history.json<Bundle>().total).toBe(OWN_NAMES.length + 1);
      expect(namesOf(await as(name, 'GET', '/Group/_history'))).toEqual([]);
      expect((await as(name, 'GET', '/Observation/_history?_count=1')).json<Bundle>().total).toBe(4);
    });

    it('cannot use _explain', async () => {
      expect((await as(name, 'GET', '/Patient?_explain=1')).status).toBe(403);
    });
  });

  it('cannot find out by any form of query what is hidden, or that it changes', async () => {
    const index = app.app.get(SearchIndex, { strict: false });
    const names = [...OWN_NAMES, ...HIDDEN_NAMES].filter((one) => !one.startsWith('ValueSet'));
    const queries = [
      ...queryForms(index.builtIn, ['Patient', 'Observation', 'Encounter', 'List', 'QuestionnaireResponse'], TYPES),
      ...names.flatMap((path) => [path, `${path}/_history`, `${path}/_history/1`, `${path}/_history/2`]),
      ...TYPES.flatMap((type) => [`${type}/_history`, `${type}/_history?_count=0`, `${type}/_history?_count=2`]),
      ...TYPES.flatMap((type) => [`Patient/own-p/${type}`, `Patient/canary-p/${type}?_count=1`]),
      ...['_history', '_history?_count=3', '_history?_txid=1', '_history?_since=2020-01-01T00:00:00Z&_page=2&_count=2'],
    ];
    const callers = [...people.values()].map(({ bearer }) => bearer);
    // Each of the two callers sends half of the queries, and root every tenth. Forms differ in the code that they
    // reach.
    const asked = [...callers.map((_caller, first) => queries.filter((_query, at) => at % 2 === first))];
    asked.push(queries.filter((_query, at) => at % 10 === 0));
    const answers = (): Promise<string[][]> =>
      Promise.all([...callers, undefined].map((caller, at) => answersTo(caller, asked[at] ?? [])));
    const before = await answers();
    await changeHidden(app);
    const after = await answers();

    const changed = asked.map((own, at) => own.filter((_query, i) => before[at]?.[i] !== after[at]?.[i]));
    expect(changed.slice(0, 2)).toEqual([[], []]);
    // A caller with all rows gets other answers, so the queries do reach hidden rows.
    expect(changed[2]?.length).toBeGreaterThan((asked[2]?.length ?? 0) / 4);
    const revealed = asked
      .slice(0, 2)
      .flatMap((own, caller) =>
        own.filter((query, i) => !/canary/i.test(query) && mentionsHidden(before[caller]?.[i] ?? '')),
      );
    expect(revealed).toEqual([]);
  }, 240_000);
});

/** Whether an answer mentions hidden resources, except in references of visible ones. */
const mentionsHidden = (answer: string): boolean =>
  /canary/i.test(answer.replace(/"(Organization\/canary-org|Observation\/canary-o1)"/g, '""'));
