import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle } from '../../support/bundle';
import { startTestApp, type TestApp } from '../../../testing/test-app';

const LENIENT = { headers: { Prefer: 'handling=lenient' } };

describe('unknown names in a request', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.put('/fhir/Patient/p', { active: true });
    await app.put('/fhir/Observation/o', {
      ...{ status: 'final', code: { text: 'weight' } },
      valueQuantity: { value: 5, system: 'http://unitsofmeasure.org', code: 'kg' },
    });
  });
  afterAll(() => app.close());

  const refusalOf = async (path: string): Promise<string> => {
    const answer = await app.get(path);
    expect([path, answer.status]).toEqual([path, 400]);
    return answer.json<{ issue: [{ diagnostics: string }] }>().issue[0].diagnostics;
  };

  describe('C10.3: a search parameter', () => {
    it.each([
      ['Patient?surname=x', /"surname"\. There are .*address.*family.*given/],
      ['Patient?famly=x', /"famly"\. Did you mean "family"\?/],
      ['Patient?_sort=foo', /"foo"\. There are .*birthdate/],
      ['Patient?_sort=birthdat', /"birthdat"\. Did you mean "birthdate"\?/],
      ['Patient?_include=Patient:doctor', /Patient\.doctor.*There are general-practitioner, link, organization\./],
      ['Patient?_include=Patient:organisation', /Patient\.organisation.*Did you mean "organization"\?/],
      ['Patient?_include=Patient:name', /Patient\.name.*There are general-practitioner, link, organization\./],
      ['Patient?_revinclude=Observation:doctor', /Observation\.doctor.*There are .*performer.*subject/],
      ['Observation?subject:Patient.surname=x', /"surname"\. There are .*family/],
      ['Patient?_has:Observation:patient:kode=x', /"kode"\. Did you mean "code"\?/],
    ])('C10.3: %s gets the nearest name or the list', async (query, said) => {
      expect(await refusalOf(`/fhir/${query}`)).toMatch(said);
    });
  });

  describe('a modifier of a parameter for the result', () => {
    it.each([
      'Patient?_sort:desc=family',
      '?_type=Patient&_sort:desc=_lastUpdated',
      'Patient/p/Observation?_sort:desc=date',
    ])('is refused in %s, even with handling=lenient, since the order would change', async (path) => {
      expect(await refusalOf(`/fhir/${path}`)).toMatch(/^"_sort:desc" takes no modifier\. A "-" before a key/);
      expect((await app.get(`/fhir/${path}`, LENIENT)).status).toBe(400);
    });

    it.each([
      '_count:exact=1',
      '_summary:not=true',
      '_elements:missing=id',
      '_total:x=none',
      '_page:x=2',
      '_format:x=json',
    ])('is refused in %s', async (query) => {
      expect(await refusalOf(`/fhir/Patient?${query}`)).toMatch(/^"_\w+:\w+" takes no modifier\.$/);
    });

    it('is refused in the form of _search', async () => {
      const answer = await app.post('/fhir/Patient/_search', '_sort:desc=family', {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('_sort:desc')]);
    });
  });

  describe('C12.3: a unit', () => {
    it.each(['value-quantity=5|http://unitsofmeasure.org|kgg', 'value-quantity=gt5|http://unitsofmeasure.org|KG,3'])(
      'C12.3: %s is not a UCUM unit',
      async (query) => {
        expect(await refusalOf(`/fhir/Observation?${query}`)).toMatch(/value-quantity.*"(kgg|KG)".*UCUM/);
      },
    );
    it.each(['kg', 'g', 'mm[Hg]', '{score}', '10*9/L', '%25', '[lb_av]'])('C12.3: %s is a UCUM unit', async (code) => {
      const answer = await app.get(`/fhir/Observation?value-quantity=gt1|http://unitsofmeasure.org|${code}`);
      expect([answer.status, answer.json<Bundle>().total]).toEqual([
        200,
        ['kg', 'g', '[lb_av]'].includes(code) ? 1 : 0,
      ]);
    });
    it('C12.3: other systems have their own units', async () => {
      expect((await app.get('/fhir/Observation?value-quantity=5|http://own.example|kgg')).status).toBe(200);
      expect((await app.get('/fhir/Observation?value-quantity=5||kgg')).status).toBe(200);
    });
  });

  describe('an element in _elements', () => {
    it.each([
      'Patient?_elements=gendre',
      'Patient/p?_elements=gendre',
      'Patient/_history?_elements=gendre',
      'Patient/p/_history?_elements=gendre',
      '?_type=Patient,Observation&_elements=gendre',
      'Observation?_elements=Patient.gendre',
    ])('is refused in %s if the type lacks it, except with handling=lenient', async (path) => {
      expect(await refusalOf(`/fhir/${path}`)).toMatch(/gendre".*Did you mean "gender"\?/);
      expect((await app.get(`/fhir/${path}`, LENIENT)).status).toBe(200);
    });

    it.each(['Observation?_include=Observation:subject&_elements=gender', 'SDCDocument?_elements=pressure'])(
      'is accepted in %s if other types may have it',
      async (path) => {
        expect((await app.get(`/fhir/${path}`)).status).toBe(200);
      },
    );
  });

  it.each([
    ['_sort=famly', null],
    ['_sort=famly,-birthdate', '-birthdate'],
    ['_sort=,', null],
  ])('the self link of a lenient search by %s has the used sort keys', async (query, shown) => {
    const { link } = (await app.get(`/fhir/Patient?${query}`, LENIENT)).json<{ link: [{ url: string }] }>();
    expect(new URL(link[0].url).searchParams.get('_sort')).toBe(shown);
  });

  it.each(['_text', '_content', '_list', '_filter'])('C12.12: %s is in /metadata, and works', async (name) => {
    const { rest } = (await app.get('/metadata')).json<{ rest: [{ searchParam: { name: string }[] }] }>();
    expect(rest[0].searchParam.map((one) => one.name)).toContain(name);
    const value = name === '_filter' ? encodeURIComponent('active eq true') : 'x';
    expect((await app.get(`/fhir/Patient?${name}=${value}`)).status).toBe(200);
  });

  it.each(['_total=accurate', '_total=estimate'])('C12.13: _result=array refuses %s', async (query) => {
    for (const path of ['/fhir/Patient?', '/fhir?_type=Patient&']) {
      expect(await refusalOf(`${path}_result=array&${query}`)).toContain('_total');
    }
    expect((await app.get('/fhir/Patient?_result=array&_total=none')).json<object[]>()).toHaveLength(1);
  });

  describe('C13.2: a query parameter', () => {
    const KNOWN = ['_format=json', '_pretty=true'];
    const OF_RESOURCES = [...KNOWN, '_summary=true', '_elements=id'];

    it.each([
      ['/fhir/Patient/p', OF_RESOURCES],
      ['/Patient/p/_history/1', OF_RESOURCES],
      ['/fhir/$version', KNOWN],
      ['/SearchParameter/Patient-active/$index-status', KNOWN],
      ['/fhir/metadata', ['mode=full', ...OF_RESOURCES]],
    ])('C13.2: of %s is supported or refused', async (path, known) => {
      for (const query of known) expect([query, (await app.get(`${path}?${query}`)).status]).toEqual([query, 200]);
      const refused = await app.get(`${path}?_formt=json`);
      expect([refused.status, refused.text]).toEqual([400, expect.stringMatching(/_formt.*_format/)]);
      expect((await app.get(`${path}?_formt=json`, LENIENT)).status).toBe(200);
    });

    it('C13.2: of /health is ignored, as docs/reference/monitoring.md says', async () => {
      expect((await app.get('/health?probe=1')).status).toBe(200);
    });

    it('C13.2: of $status is supported or refused', async () => {
      const destination = {
        meta: { profile: ['http://svc.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
        ...{ kind: 'webhook-at-least-once', topic: 'http://svc.example/none' },
        parameter: [{ name: 'endpoint', valueUrl: 'http://127.0.0.1:9/' }],
      };
      expect((await app.put('/SvcTopicDestination/d', destination)).status).toBe(201);
      const path = '/fhir/SvcTopicDestination/d/$status';
      expect((await app.get(`${path}?_pretty=true`)).status).toBe(200);
      expect((await app.get(`${path}?pretty=true`)).status).toBe(400);
      expect((await app.get(`${path}?pretty=true`, LENIENT)).status).toBe(200);
    });

    it('C13.2: of /rpc is supported or refused', async () => {
      const call = {
        method: 'svc.sdc.addendum/get-addendums',
        params: { target: { resourceType: 'SDCDocument', id: 'x' } },
      };
      const usual = await app.post('/rpc', call);
      expect((await app.post('/rpc?_pretty=true', call)).status).toBe(usual.status);
      const refused = await app.post('/rpc?verbose=1', call);
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('verbose')]);
      // Policies of the calls see the query, so no parameter of it may be ignored.
      expect((await app.post('/rpc?verbose=1', call, LENIENT)).status).toBe(400);
    });
  });
});
