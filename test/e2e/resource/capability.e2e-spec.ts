import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { elementsOfType, membersOfType } from '../../../src/fhir/definitions/definitions';
import { BASE_URL, startTestApp, type TestApp } from '../../../testing/test-app';

interface Coded {
  readonly code: string;
}
interface RestResource {
  readonly type: string;
  readonly interaction: readonly Coded[];
  readonly conditionalRead: string;
  readonly conditionalCreate: boolean;
  readonly conditionalDelete: string;
  readonly searchInclude?: readonly string[];
  readonly searchRevInclude?: readonly string[];
  readonly searchParam: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
}
interface Statement {
  readonly software: { readonly version: string };
  readonly format: readonly string[];
  readonly implementation: { readonly url: string };
  readonly rest: readonly {
    readonly resource: readonly RestResource[];
    readonly interaction: readonly Coded[];
    readonly security: object;
  }[];
}

/** A request for each interaction. If the server claims it, any answer is fine except "not supported". */
const REQUESTS: Readonly<Record<string, readonly [method: string, path: string]>> = {
  read: ['GET', '/fhir/{type}/x1'],
  vread: ['GET', '/fhir/{type}/x1/_history/1'],
  'history-instance': ['GET', '/fhir/{type}/x1/_history'],
  'history-type': ['GET', '/fhir/{type}/_history'],
  'search-type': ['GET', '/fhir/{type}?_count=0'],
  create: ['POST', '/fhir/{type}'],
  update: ['PUT', '/fhir/{type}/x1'],
  patch: ['PATCH', '/fhir/{type}/x1'],
  delete: ['DELETE', '/fhir/{type}/x1'],
  transaction: ['POST', '/fhir'],
  batch: ['POST', '/fhir'],
  'search-system': ['GET', '/fhir?_type=Basic'],
  'history-system': ['GET', '/fhir/_history?_count=1'],
};

describe('/metadata', () => {
  let app: TestApp;
  let statement: Statement;
  let types: ReadonlyMap<string, RestResource>;

  beforeAll(async () => {
    app = await startTestApp();
    statement = (await app.get('/fhir/metadata', { authorization: null })).json<Statement>();
    types = new Map(statement.rest[0]?.resource.map((resource) => [resource.type, resource]));
  });
  afterAll(() => app.close());

  it('is valid against the element tables of R4', async () => {
    expect(problemsOf(statement, 'CapabilityStatement', 'CapabilityStatement')).toEqual([]);
    const terminology = (await app.get('/metadata?mode=terminology')).json();
    expect(terminology).toMatchObject({ resourceType: 'TerminologyCapabilities', kind: 'instance' });
    expect(problemsOf(terminology, 'TerminologyCapabilities', 'TerminologyCapabilities')).toEqual([]);
  });

  it('has version, formats, base URL and security', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(statement.software.version).toBe(version);
    expect(statement.format).toEqual(expect.arrayContaining(['application/fhir+json', 'text/yaml']));
    expect(statement.implementation.url).toBe(`${BASE_URL}/fhir`);
    expect(JSON.stringify(statement.rest[0]?.security)).toContain(`${BASE_URL}/auth/token`);
  });

  it.each(['Patient', 'SDCDocument', 'SDCAddendum'])(
    'lists for %s the supported interactions, and no others',
    async (type) => {
      const claimed = (types.get(type)?.interaction ?? []).map(({ code }) => code);
      expect(claimed).toEqual(
        expect.arrayContaining(['read', 'vread', 'history-instance', 'history-type', 'search-type']),
      );
      expect(claimed.includes('create')).toBe(type !== 'SDCAddendum');
      for (const [code, [method, path]] of Object.entries(REQUESTS).slice(0, 9)) {
        const { status } = await app.send(
          method,
          path.replace('{type}', type),
          method.startsWith('P') ? { body: {} } : {},
        );
        expect([code, status !== 405]).toEqual([code, claimed.includes(code)]);
      }
    },
  );

  it('lists only supported system interactions', async () => {
    const claimed = (statement.rest[0]?.interaction ?? []).map(({ code }) => code);
    expect(claimed).toContain('history-system');
    for (const code of claimed) {
      const [method = '', path = ''] = REQUESTS[code] ?? [];
      expect([code, (await app.send(method, path, method === 'POST' ? { body: {} } : {})).text]).not.toEqual([
        code,
        expect.stringContaining('No such route'),
      ]);
    }
  });

  it('lists search parameters with their definitions, _include and _revinclude', () => {
    const patient = types.get('Patient');
    expect(patient?.searchParam).toContainEqual({
      name: 'birthdate',
      type: 'date',
      definition: 'http://hl7.org/fhir/SearchParameter/individual-birthdate',
    });
    expect(patient?.searchParam).toContainEqual({
      name: '_id',
      type: 'token',
      definition: 'http://hl7.org/fhir/SearchParameter/Resource-id',
    });
    expect(types.get('SDCDocument')?.searchParam).toContainEqual({ name: 'patient', type: 'reference' });
    expect(patient?.searchInclude).toContain('Patient:organization');
    expect(patient?.searchRevInclude).toEqual(expect.arrayContaining(['Observation:subject', 'Provenance:target']));
    expect(types.get('SDCAddendum')).toMatchObject({ conditionalCreate: false, conditionalDelete: 'not-supported' });
  });

  it('has an ETag, so that clients can cache it', async () => {
    const { headers } = await app.get('/metadata');
    const again = await app.get('/fhir/metadata', { headers: { 'If-None-Match': headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
  });

  it('supports the modes of R4, and refuses others', async () => {
    expect((await app.get('/metadata?mode=normative')).json()).toEqual(statement);
    expect((await app.get('/metadata?mode=other')).status).toBe(400);
  });
});

/** Compares a resource with the element tables of its type. */
function problemsOf(value: unknown, type: string, path: string): string[] {
  const elements = elementsOfType(type);
  if (elements === undefined || elements.size === 0 || typeof value !== 'object' || value === null) return [];
  const missing = [...elements.values()]
    .filter(({ name, isRequired, isChoice }) => isRequired && !isChoice && !(name in value))
    .map(({ name }) => `${path}.${name} is missing`);
  const wrong = Object.entries(value).flatMap(([key, member]: [string, unknown]) => {
    if (key === 'resourceType') return [];
    const here = `${path}.${key}`;
    const known = membersOfType(type)?.get(key);
    if (known === undefined) return [`${here} is unknown`];
    const { isRepeated } = known.element;
    if (Array.isArray(member) !== isRepeated) return [`${here} should${isRepeated ? '' : ' not'} be a list`];
    if (Array.isArray(member) && member.length === 0) return [`${here} is empty`];
    return [member].flat().flatMap((item) => problemsOf(item, known.type, here));
  });
  return [...missing, ...wrong];
}
