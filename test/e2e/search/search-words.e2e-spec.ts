import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle, idsOf, searchOn } from '../../support/bundle';
import { storeAll } from '../../../testing/world';
import { startTestApp, type TestApp } from '../../../testing/test-app';

const LOINC = 'http://loinc.org';

/** The stored resources. Their bodies are texts, so that escapes and digits stay as written. */
const WORLD: readonly (readonly [path: string, body: string])[] = [
  [
    'Patient/ana',
    `{"resourceType":"Patient","identifier":[{"system":"http://ward.example","value":"Ab-12"}],"active":true,
      "name":[{"family":"Rivera-Soto","given":["Ana","Luc\\u00EDa"]}],"birthDate":"1974-12-25","telecom":[{"system":"email","value":"Ana@Ward.example"}],
      "text":{"status":"generated","div":"<div xmlns=\\"http://www.w3.org/1999/xhtml\\">Allergic to latex\\nSays \\"100% fine\\" at c:\\\\notes</div>"}}`,
  ],
  [
    'Patient/ben',
    '{"resourceType":"Patient","name":[{"family":"Smith"}],"gender":"male","birthDate":"1974","address":[{"city":"Sotogrande","district":"\\u0041lley"}]}',
  ],
  [
    'Patient/cleo',
    '{"resourceType":"Patient","active":false,"birthDate":"1980-06","address":[{"city":"East\\/West"}]}',
  ],
  [
    'Observation/weight',
    `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"${LOINC}","code":"Wt-1"}]},"effectiveDateTime":"2020-01-31T10:00:00Z"}`,
  ],
  [
    'Observation/other',
    '{"resourceType":"Observation","status":"final","code":{"coding":[{"code":"wt-1"}]},"effectivePeriod":{"start":"2020-02-28","end":"2020-03-05"}}',
  ],
];

const FINDS: readonly (readonly [query: string, ids: readonly string[]])[] = [
  // string
  ['Patient?family:starts=riv', ['ana']],
  ['Patient?family:starts=soto', []],
  ['Patient?family:ends=SOTO', ['ana']],
  ['Patient?family:ends=rivera', []],
  ['Patient?family:ends=th,oto', ['ana', 'ben']],
  ['Patient?given:ends=ucia', ['ana']],
  ['Patient?family:ends=%25', []],
  ['Patient?family:ends=_mith', []],
  // token
  ['Patient?identifier:i=aB-12', ['ana']],
  ['Patient?identifier=aB-12', []],
  ['Patient?identifier:i=http://ward.example|AB-12', ['ana']],
  ['Patient?identifier:i=http://WARD.example|AB-12', []],
  ['Patient?identifier:i=|AB-12', []],
  ['Patient?identifier:i=http://ward.example|', ['ana']],
  ['Patient?identifier:i=A.-12', []],
  ['Patient?identifier:i=b-1', []],
  ['Patient?gender:i=MALE', ['ben']],
  ['Patient?gender:i=FEMALE,Male', ['ben']],
  ['Patient?active:i=TRUE', ['ana']],
  ['Patient?email:i=ana@ward.EXAMPLE', ['ana']],
  ['Observation?code:i=WT-1', ['other', 'weight']],
  [`Observation?code:i=${LOINC}|WT-1`, ['weight']],
  ['Observation?code:i=|WT-1', ['other']],
  ['Observation?status:i=Final&code=wt-1', ['other']],
  // date
  ['Patient?birthdate:btw=1974-12,1975', ['ana', 'ben']],
  ['Patient?birthdate:btw=1974-12-25,1974-12-25', ['ana', 'ben']],
  ['Patient?birthdate:btw=1974-01,1980-06', ['ana', 'ben', 'cleo']],
  ['Patient?birthdate:btw=1974,1980-05', ['ana', 'ben']],
  ['Patient?birthdate:btw=1975,1980-05', []],
  ['Observation?date:btw=2020-01-01,2020-02-01', ['weight']],
  ['Observation?date:btw=2020-01-31T10:00:00Z,2020-01-31T10:00:00Z', ['weight']],
  ['Observation?date:btw=2020-03-05,2020-03-06', ['other']],
  ['Observation?date:btw=2020-03-06,2020-03-07', []],
  ['Observation?date:btw=2020-01-31T10:00:01Z,2020-02-27', []],
  ['Observation?date:btw=2020-01,2020-02', ['other', 'weight']],
  ['Patient?_lastUpdated:btw=2000,2100', ['ana', 'ben', 'cleo']],
  ['Patient?_lastUpdated:btw=2000,2001', []],
  // _ilike
  ['Patient?_ilike=soto', ['ana', 'ben']],
  ['Patient?_ilike=SOTO rivera', ['ana']],
  ['Patient?_ilike=smith,allergic', ['ana', 'ben']],
  ['Patient?_ilike=smith soto,nobody', ['ben']],
  ['Patient?_ilike=lucía', ['ana']],
  ['Patient?_ilike=LUCÍA', ['ana']],
  ['Patient?_ilike=u00ed', []],
  ['Patient?_ilike=www.w3.org/1999', ['ana']],
  ['Patient?_ilike=east/west', ['cleo']],
  ['Patient?_ilike=alley', ['ben']],
  ['Patient?_ilike="100%25', ['ana']],
  ['Patient?_ilike=1%250', []],
  ['Patient?_ilike=nsays', []],
  ['Patient?_ilike=says', ['ana']],
  ['Patient?_ilike=c:\\notes', ['ana']],
  ['Patient?_ilike=1974-12-25', ['ana']],
  ['Patient?_ilike=xmlns="http', ['ana']],
  ['Patient?_ilike=male&gender=male', ['ben']],
  ['Patient?_ilike=soto&name:missing=false', ['ana', 'ben']],
  ['Observation?_has:Provenance:target:_ilike=x', []],
  // _createdAt
  ['Patient?_createdAt=ge2000', ['ana', 'ben', 'cleo']],
  ['Patient?_createdAt=lt2000', []],
  ['Patient?_createdAt:btw=2000,2100', ['ana', 'ben', 'cleo']],
  ['Patient?_filter=_createdAt gt 2000-01-01 and family eq Smith', ['ben']],
];

/** Refused queries, each with a part of the error. */
const REFUSED: readonly (readonly [query: string, named: string])[] = [
  ['Patient?family:middle=x', ':starts, :ends'],
  ['Patient?identifier:i=a|b|c', 'identifier:i'],
  ['Patient?birthdate:i=1974', ':btw'],
  ['Patient?birthdate:btw=1974', 'birthdate:btw'],
  ['Patient?birthdate:btw=1974,1975,1976', 'birthdate:btw'],
  ['Patient?birthdate:btw=1975,1974', 'birthdate:btw'],
  ['Patient?birthdate:btw=ge1975,1976', 'birthdate:btw'],
  ['Patient?_lastUpdated:not=2020', ':btw'],
  ['Patient?_createdAt=yesterday', '_createdAt'],
  ['Patient?_createdAt:exact=2020', '_createdAt:exact'],
  ['Patient?_ilike=%20', '_ilike'],
  [`Patient?_ilike=${'a '.repeat(17)}`, '_ilike'],
  ['Patient?_ilike:not=a', '_ilike:not'],
];

describe('Search parameters in addition to those of FHIR', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await storeAll(app, WORLD);
  });
  afterAll(() => app.close());

  const search = (query: string): Promise<Bundle> => searchOn(app, `/fhir/${query}`);

  it.each(FINDS)('find by %s', async (query, ids) => {
    const bundle = await search(query);
    expect([idsOf(bundle).sort(), bundle.total]).toEqual([ids, ids.length]);
  });

  it.each(REFUSED)('refuse %s', async (query, named) => {
    const answer = await app.get(`/fhir/${query}`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(named)]);
  });

  it('suggest a search parameter with an index if _ilike reads all bodies', async () => {
    const bundle = (await search('Patient?_ilike=soto&_explain=1')) as Bundle & { advice: string[] };
    expect(bundle.advice).toContainEqual(expect.stringContaining('_ilike'));
  });

  it('find by the creation time after changes, and after deletion and a new creation', async () => {
    const created = async (id: string, family: string): Promise<string> => {
      const answer = await app.put(`/fhir/Patient/${id}`, { resourceType: 'Patient', id, name: [{ family }] });
      return answer.json<{ meta: { lastUpdated: string } }>().meta.lastUpdated;
    };
    const first = await created('first', 'Chrono');
    await app.put('/fhir/Patient/second', { resourceType: 'Patient', id: 'second', name: [{ family: 'Chrono' }] });
    const changed = await created('first', 'Chrono-Logos');
    const inOrder = async (sort: string): Promise<string[]> =>
      idsOf(await search(`Patient?family=chrono&_sort=${sort}`));
    expect(await inOrder('-_createdAt')).toEqual(['second', 'first']);
    expect(await inOrder('_createdAt')).toEqual(['first', 'second']);
    expect(await inOrder('-_lastUpdated')).toEqual(['first', 'second']);
    const at = async (time: string): Promise<string[]> =>
      idsOf(await search(`Patient?family=chrono&_createdAt=${encodeURIComponent(time)}`)).sort();
    expect(await at(first)).toEqual(['first']);
    expect(await at(changed)).toEqual([]);
    expect(await at(`gt${first}`)).toEqual(['second']);
    await app.delete('/fhir/Patient/first');
    await created('first', 'Chrono');
    expect(await at(first)).toEqual(['first']);
    expect(await at(`sa${first}`)).toEqual(['second']);
    const page = await search('Patient?family=chrono&_sort=-_createdAt&_count=1');
    const next = page.link.find(({ relation }) => relation === 'next')?.url ?? '';
    expect(idsOf((await app.get(next)).json<Bundle>())).toEqual(['first']);
  });
});
