import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle } from '../support/bundle';
import { type Person, login } from '../support/people';
import { changeHidden, storeTenants } from '../support/tenants';
import { type Received, type TestApp, startTestApp } from '../support/test-app';

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

/** In the compartment of the own patient, and still not the caller's to see. */
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

/** Ways to ask; what is asked for is narrowed by rights alone, or to what a test says. */
const QUERIES = [
  ...['', '?_summary=count', '?_summary=true', '?_summary=data', '?_elements=subject', '?_since=2001', '?start=2001'],
  ...['?_type=Observation,Flag,Group,Patient', '?_type=Flag', '?_type=Group,List&end=2030'],
];

describe('Patient/$everything of callers who are limited to rows', () => {
  let app: TestApp;
  let ana: Person;
  let eve: Person;

  beforeAll(async () => {
    app = await startTestApp();
    [ana, eve] = [
      await login(app, 'ana', { mayDoEverything: false }),
      await login(app, 'eve', { mayDoEverything: false }),
    ];
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

  it('hold what is granted of the chart, and root sees that there is more', async () => {
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

  it.each(['_type=Flag', '_type=Group', '_type=Flag,Group&_summary=count'])('hold nothing with ?%s', async (query) => {
    const { total, entry = [] } = (await as(ana, `${PATH}?${query}`)).json<Partial<Bundle>>();
    expect([total, entry]).toEqual([0, []]);
  });

  it('are those of a POST too', async () => {
    const body = { resourceType: 'Parameters', parameter: [{ name: '_type', valueCode: 'Observation,Flag' }] };
    const answer = await app.post(PATH, body, { authorization: ana.bearer });
    expect(namesOf(answer.json<Bundle>())).toEqual(OBSERVATIONS);
  });

  it('say the same whatever happens to what is hidden', async () => {
    const answers = async (): Promise<string[]> => {
      const all: string[] = [];
      for (const query of QUERIES) {
        const { status, text } = await as(ana, `${PATH}${query}`);
        expect([query, status]).toEqual([query, 200]);
        all.push(text.replace(/_page=[^"&]*/g, '_page='));
      }
      return all;
    };
    const before = await answers();
    await changeHidden(app);
    for (const { resourceType, id } of HIDDEN_MEMBERS) await app.delete(`/fhir/${resourceType}/${id}`);
    expect(await answers()).toEqual(before);
    for (const resource of HIDDEN_MEMBERS) await app.put(`/fhir/${resource.resourceType}/${resource.id}`, resource);
    expect(await answers()).toEqual(before);
  });

  it('are nobody’s chart for who may not read the patient', async () => {
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
});
