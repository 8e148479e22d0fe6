import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle, followPages, idsOf, searchOn } from '../../support/bundle';
import { storeAll } from '../../../testing/world';
import { startTestApp, type TestApp } from '../../../testing/test-app';

/** The stored resources. Their bodies are texts, so that digits and escapes stay as written. */
const WORLD: readonly (readonly [path: string, body: string])[] = [
  [
    'Patient/ana',
    `{"resourceType":"Patient","active":true,"name":[{"family":"Smith","given":["Ana","Luc\\u00EDa"]},{"family":"Jones"}],
      "birthDate":"1974-12-25","contact":[{"name":{"family":"Kin"}}],"multipleBirthInteger":2}`,
  ],
  ['Patient/ben', '{"resourceType":"Patient","active":false,"name":[{"family":"smith"}],"birthDate":"1974"}'],
  ['Patient/cleo', '{"resourceType":"Patient","name":[{"family":"Jones"}],"birthDate":"1980-06"}'],
  ['Patient/dan', '{"resourceType":"Patient","gender":"male","multipleBirthInteger":10}'],
  [
    'Observation/o1',
    '{"resourceType":"Observation","status":"final","code":{"text":"a"},"subject":{"reference":"Patient/ana"},"valueQuantity":{"value":1.10,"unit":"kg"},"issued":"2020-01-31T23:30:00-02:00"}',
  ],
  [
    'Observation/o2',
    '{"resourceType":"Observation","status":"final","code":{"text":"b"},"subject":{"reference":"Patient/ben"},"valueQuantity":{"value":11},"issued":"2020-02-01T00:30:00Z"}',
  ],
  // An own type accepts any content: a value that cannot be cast must not match, and must not fail the search.
  [
    'SDCDocument/d1',
    '{"resourceType":"SDCDocument","status":"completed","score":"12","when":"2020-02-30","deep":{"list":[{"n":1e400},{"n":2}]}}',
  ],
  [
    'SDCDocument/d2',
    '{"resourceType":"SDCDocument","status":"completed","score":9,"when":"2020-02","deep":{"list":[{"n":3}]},"gone":null}',
  ],
  ['SDCDocument/d3', '{"resourceType":"SDCDocument","status":"completed","score":"many","when":"soon","deep":"flat"}'],
];

const FINDS: readonly (readonly [query: string, ids: readonly string[]])[] = [
  // equality
  ['Patient?.name.0.family=Smith', ['ana']],
  ['Patient?.name.1.family=Jones', ['ana']],
  ['Patient?.name.0.family=Jones', ['cleo']],
  ['Patient?.name.family=Jones', ['ana', 'cleo']],
  ['Patient?.name.family=smith,Jones', ['ana', 'ben', 'cleo']],
  ['Patient?.name.given=Lucía', ['ana']],
  ['Patient?.name.0.given.1=Lucía', ['ana']],
  ['Patient?.name.9.family=Smith', []],
  ['Patient?.active=true', ['ana']],
  ['Patient?.active=TRUE', []],
  ['Patient?.multipleBirthInteger=2.0', ['ana']],
  ['Patient?.resourceType=Patient&gender=male', ['dan']],
  ['Patient?.id=dan', ['dan']],
  ['Patient?.meta.versionId=1&gender=male', ['dan']],
  ['Observation?.valueQuantity.value=1.1', ['o1']],
  ['Observation?.valueQuantity.value=1.100', ['o1']],
  ['Observation?.valueQuantity.value=1.11', []],
  ['Observation?.valueQuantity.value=11e-1', ['o1']],
  ['Observation?.valueQuantity.value$exact=1.10', ['o1']],
  ['Observation?.valueQuantity.value$exact=1.1', []],
  ['Observation?.subject.reference=Patient/ana', ['o1']],
  // texts
  ['Patient?.name.0.family$contains=mit', ['ana', 'ben']],
  ['Patient?.name.0.family$starts=SM', ['ana', 'ben']],
  ['Patient?.name.0.family$ends=th', ['ana', 'ben']],
  ['Patient?.name.family$exact=smith', ['ben']],
  ['Patient?.name.family$contains=%25', []],
  ['Patient?.name.given$contains=cí', ['ana']],
  // negation and absence
  ['Patient?.name.family$ne=Jones', ['ben', 'dan']],
  ['Patient?.contact$isnull=true', ['ben', 'cleo', 'dan']],
  ['Patient?.contact$isnull=false', ['ana']],
  ['SDCDocument?.gone$isnull=true', ['d1', 'd2', 'd3']],
  // order, by the type of the element
  ['Patient?.multipleBirthInteger$gt=2', ['dan']],
  ['Patient?.multipleBirthInteger$ge=2', ['ana', 'dan']],
  ['Observation?.valueQuantity.value$lt=1.2', ['o1']],
  ['Observation?.valueQuantity.value$le=1.10', ['o1']],
  ['Patient?.birthDate$gt=1974-12-25', ['ben', 'cleo']],
  ['Patient?.birthDate$ge=1980-06', ['cleo']],
  ['Patient?.birthDate$lt=1974-12-25', ['ben']],
  ['Patient?.birthDate=1974', ['ben']],
  ['Patient?.birthDate::date=1974', ['ana', 'ben']],
  ['Patient?.birthDate::date$ne=1974', ['cleo', 'dan']],
  ['Patient?.birthDate::text$gt=1974-12', ['ana', 'cleo']],
  ['Observation?.issued$gt=2020-02-01T01:00:00Z', ['o1']],
  ['Observation?.issued::timestamptz=2020-02-01T01:30:00Z', ['o1']],
  ['Observation?.issued::date=2020-02-01', ['o1', 'o2']],
  ['Observation?.issued::date=2020-01-31', []],
  // open content and casts
  ['SDCDocument?.score::integer$gt=10', ['d1']],
  ['SDCDocument?.score::numeric$lt=10', ['d2']],
  ['SDCDocument?.score$lt=10', ['d2']],
  ['SDCDocument?.score=12', ['d1']],
  ['SDCDocument?.when::date=2020-02', ['d2']],
  ['SDCDocument?.when::date$ge=2020', ['d1', 'd2']],
  ['SDCDocument?.deep.list.n=2', ['d1']],
  ['SDCDocument?.deep.list.1.n=2', ['d1']],
  ['SDCDocument?.deep.list.n$gt=2', ['d1', 'd2']],
  ['SDCDocument?.unheard.of=1', []],
  // together with other clauses, in _filter and in chains
  ['Patient?.name.family=Jones&birthdate=1980', ['cleo']],
  ['Patient?.name.family=Jones&.name.family=Smith', ['ana']],
  ['Patient?_filter=.name.0.family eq "Smith" or .multipleBirthInteger gt 5', ['ana', 'dan']],
  ['Patient?_filter=.name.family co mit and not (.active eq true)', ['ben']],
  ['Patient?_filter=.contact pr true', ['ana']],
  ['Patient?_filter=.contact isnull true and .birthDate::date eq 1974', ['ben']],
  ['Observation?subject:Patient..name.family=Jones', ['o1']],
  ['Patient?_has:Observation:subject:.valueQuantity.value$gt=10', ['ben']],
];

/** Refused queries, each with a part of the error. */
const REFUSED: readonly (readonly [query: string, named: string])[] = [
  ['Patient?.nmae.family=x', 'Did you mean \\"name\\"'],
  ['Patient?.name.famly=x', 'Did you mean \\"family\\"'],
  ['Observation?.value=1', 'which Observation does not have'],
  ['Patient?.contact.nam.family=x', 'Did you mean \\"name\\"'],
  ['Patient?.birthDate.year=1', 'which date does not have'],
  ['Patient?.birthDate.0=1974', 'no list'],
  ['Patient?.name=x', 'ends at a HumanName'],
  ['Patient?.name.family$like=x', '$contains'],
  ['Patient?.name.family::citext=x', '::citext'],
  ['Patient?.name.family$isnull=maybe', '$isnull'],
  ['Patient?.birthDate$gt=soon', '.birthDate'],
  ['Patient?.multipleBirthInteger$gt=two', '.multipleBirthInteger'],
  ['Patient?.=x', 'no path'],
  ['Patient?.0.family=x', 'no path'],
  ['Patient?.name..family=x', 'no path'],
  [`SDCDocument?${'.a'.repeat(17)}=x`, '16 steps'],
  [`SDCDocument?.a=${'x'.repeat(1025)}`, '1024'],
  ['Patient?_sort=.nmae', 'Did you mean'],
  ['Patient?_sort=.name', 'HumanName'],
  ['Patient?_sort=.birthDate$gt', '_sort'],
  ['Patient?_filter=.name.family ap x', '_filter'],
  ['Patient?_filter=.name.family$eq eq x', '_filter'],
];

describe('Dot expressions', () => {
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

  it.each([
    ['Patient?_sort=.birthDate', ['ben', 'ana', 'cleo', 'dan']],
    ['Patient?_sort=-.birthDate', ['cleo', 'ana', 'ben', 'dan']],
    ['Patient?_sort=.multipleBirthInteger,_id', ['ana', 'dan', 'ben', 'cleo']],
    ['Patient?_sort=-.name.0.family', ['ben', 'ana', 'cleo', 'dan']],
    ['SDCDocument?_sort=-.score::integer', ['d1', 'd2', 'd3']],
    ['SDCDocument?_sort=.deep.list.0.n::numeric,_id', ['d2', 'd1', 'd3']],
  ] as const)('sort by %s, page by page', async (query, ids) => {
    expect(idsOf(await search(query))).toEqual(ids);
    expect((await followPages(app, `/fhir/${query}&_count=1`)).map(idsOf).flat()).toEqual(ids);
  });

  it('treat wildcards, quotes and SQL in values as text', async () => {
    for (const value of [`' or 1=1 --`, '%', '_', '\\\\', '.*', '") && true', '$.*', '1e999', '-', '\u{1F600}']) {
      for (const name of ['.a', '.a$contains', '.a$ne', '.a$gt', '.a$exact', '.a::text']) {
        const answer = await app.get(`/fhir/SDCDocument?${name}=${encodeURIComponent(value)}`);
        expect([name, value, answer.status]).toEqual([name, value, 200]);
      }
    }
    for (const name of [`.a"b`, `.a'b`, '.a b', '.a)', '.a\\', '.a[*]', '.a.*', '.a.**', '.a?(1)', '.$.a']) {
      const answer = await app.get(`/fhir/SDCDocument?${encodeURIComponent(name)}=1`);
      expect([name, answer.status]).toEqual([name, 400]);
    }
  });

  it('name the search parameter that would have an index', async () => {
    const bundle = (await search('Patient?.name.0.family=Smith&_explain=1')) as Bundle & { advice: string[] };
    expect(bundle.advice).toContainEqual(expect.stringContaining('.name[0].family'));
  });

  it('work as criteria of conditional writes', async () => {
    const answer = await app.send('PUT', '/fhir/Patient?.name.0.family=Smith', {
      body: { resourceType: 'Patient', name: [{ family: 'Smith' }], active: true },
    });
    expect([answer.status, answer.json<{ id: string }>().id]).toEqual([200, 'ana']);
  });
});
