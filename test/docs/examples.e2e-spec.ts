import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Ajv, { type ValidateFunction } from 'ajv';
import { writeFileSync } from 'node:fs';
import { BASE_URL, startTestApp, type TestApp } from '../../testing/test-app';
import { jsonOfYaml } from '../../src/platform/yaml/read-yaml';
import { isLike } from './is-like';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly example?: string;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

interface Content {
  readonly example?: object | string;
  readonly examples?: Readonly<Record<string, { readonly value: object }>>;
  readonly schema?: { readonly example?: object };
}

const YAML = 'text/yaml';

/** Operations whose examples depend on the run that recorded them. */
const OF_A_MOMENT = ['get /auth/decisions/{id}'];

/** Operations whose answers depend on background work: an index is listed only until it is built. */
const ANSWERED_BY_MOMENT = ['get /fhir/SearchParameter/$index-status'];

/** A call as Swagger UI sends it if the form is not edited. */
interface Call {
  readonly name: string;
  /** The group of the page that shows the operation. */
  readonly group: string;
  /** The id of the operation, or the name of the RPC method; undefined for a call whose answer is not recorded. */
  readonly recordedAs: string | undefined;
  readonly template: string;
  readonly method: string;
  readonly path: string;
  readonly mediaType?: string;
  readonly body?: string;
  /** The response, if the document shows one. */
  readonly answer?: unknown;
  readonly isPublic: boolean;
  /** Whether the operation accepts only the token of a User. */
  readonly isForUsers: boolean;
}

/** The earlier snapshot that the example of an amendment is compared with. */
const EARLIER_SNAPSHOT = {
  method: 'svc.sdc.addendum/add-to-history',
  params: {
    resource: {
      id: 'vitals-1',
      resourceType: 'SDCDocument',
      status: 'completed',
      patient: { id: 'pt-1', resourceType: 'Patient' },
      'loinc-8480-6': { value: 118, unit: 'mm[Hg]' },
    },
    user: { id: 'doc-1', resourceType: 'User' },
  },
};

/**
 * Whether the spec records instead of comparing: it writes the responses to `src/openapi/answers.json`, from which the
 * document takes its examples.
 */
const isRecording = process.env.RECORD_ANSWERS !== undefined;

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly json: () => unknown;
}

/** Validates requests and responses by the schemas of a document. */
class DocumentSchemas {
  private readonly ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });

  constructor(private readonly document: { readonly paths: Record<string, Record<string, Operation>> }) {
    this.ajv.addSchema({ $id: 'api', ...document });
  }

  faultsOf(call: Call, answer: Answered): readonly string[] {
    const { name, template, mediaType, body = '' } = call;
    const method = call.method.toLowerCase();
    const sent =
      mediaType?.includes('json') === true
        ? this.faults([template, method, 'requestBody', 'content', mediaType, 'schema'], JSON.parse(body))
        : [];
    return [...sent, ...this.faultsOfAnswer(template, method, answer)].map((fault) => `${name}: ${fault}`);
  }

  private faultsOfAnswer(template: string, method: string, { status, text, json }: Answered): readonly string[] {
    if (text === '') return [];
    const { content = {} } = this.document.paths[template]?.[method]?.responses[status] ?? {};
    const [mediaType] = Object.keys(content);
    if (mediaType === undefined) return [`status ${status} has no content in the document`];
    return this.faults([template, method, 'responses', String(status), 'content', mediaType, 'schema'], json());
  }

  private faults(path: readonly string[], value: unknown): readonly string[] {
    const pointer = path.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const check: ValidateFunction = this.ajv.compile({ $ref: `api#/paths/${pointer}` });
    return check(value)
      ? []
      : (check.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath} ${message}`);
  }
}

/**
 * Routes whose examples the document declares itself instead of taking recorded ones: they contain tokens or keys, or
 * there are many of them.
 */
const hasOwnAnswer = ({ template }: Call): boolean => template.startsWith('/auth/') && template !== '/auth/test-policy';

/** Keeps only the first elements of each list of a long response. */
function shortened(answer: unknown): unknown {
  const length = JSON.stringify(answer).length > 4000 ? 1 : 2;
  const cut = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.slice(0, length).map(cut);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cut(member)]));
  };
  return cut(answer);
}

const linesOf = (recorded: Readonly<Record<string, unknown>>): string =>
  `{\n${Object.keys(recorded)
    .sort()
    .map((id) => `${JSON.stringify(id)}: ${JSON.stringify(recorded[id])}`)
    .join(',\n')
    .replaceAll(BASE_URL, 'http://localhost:3000')}\n}\n`;

describe('the examples of the OpenAPI document', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.post('/rpc', EARLIER_SNAPSHOT);
  });
  afterAll(() => app.close());

  /** A token of the User and Client that the examples have stored before. */
  async function tokenOfTheUser(): Promise<string> {
    await app.put('/User/doc-1', { userName: 'doc-1', email: 'doc-1@clinic.example', password: 'a long password' });
    const answer = await app.post(
      '/auth/token',
      {
        grant_type: 'password',
        client_id: 'try-app',
        client_secret: 'try-app-secret',
        username: 'doc-1',
        password: 'a long password',
      },
      { authorization: null },
    );
    return `Bearer ${answer.json<{ access_token: string }>().access_token}`;
  }

  it('are accepted as they are, in order, and return the documented responses', async () => {
    const document = (await app.get('/api-json', { authorization: null })).json<{
      paths: Record<string, Record<string, Operation>>;
      tags: readonly { readonly name: string }[];
    }>();
    const { paths, tags } = document;
    const schemas = new DocumentSchemas(document);
    const recorded: Record<string, unknown> = {};
    const faults: string[] = [];
    const calls = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([method]) => !OF_A_MOMENT.includes(`${method} ${path}`))
        .flatMap(([method, operation]) => callsOf(path, method, operation)),
    );
    // In the order of the page, except deletions, since other calls read the same resources.
    const groups = tags.map(({ name }) => name);
    calls.sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));
    calls.sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'));
    expect(calls.length).toBeGreaterThan(25);
    if (!isRecording) expect(calls.filter(({ path, answer }) => path === '/rpc' && answer === undefined)).toEqual([]);
    for (const call of calls) {
      const { name, method, path, mediaType, body, answer: documented, isPublic, isForUsers } = call;
      const answer = await app.send(method, path, {
        ...(isPublic ? { authorization: null } : {}),
        ...(isForUsers ? { authorization: await tokenOfTheUser() } : {}),
        ...(body === undefined ? {} : { body }),
        headers: { Accept: 'application/json', ...(mediaType === undefined ? {} : { 'Content-Type': mediaType }) },
      });
      expect([name, answer.status < 300 ? 'accepted' : answer.text]).toEqual([name, 'accepted']);
      if (!isRecording) faults.push(...schemas.faultsOf(call, answer));
      if (answer.text !== '' && call.recordedAs !== undefined && !hasOwnAnswer(call))
        recorded[call.recordedAs] ??= shortened(answer.json());
      if (documented !== undefined && answer.text !== '' && !isRecording && !isLike(documented, answer.json()))
        faults.push(`${name} is not answered with its example but with ${answer.text}`);
    }
    if (isRecording) writeFileSync('src/openapi/answers.json', linesOf(recorded));
    expect(faults).toEqual([]);
  });

  it('are equal in YAML and JSON', async () => {
    const { paths } = (await app.get('/api-json', { authorization: null })).json<{
      paths: Record<string, Record<string, Operation>>;
    }>();
    const contents = Object.values(paths)
      .flatMap((item) => Object.values(item))
      .flatMap(({ requestBody }) => (requestBody?.content[YAML] === undefined ? [] : [requestBody.content]));
    expect(contents.length).toBeGreaterThan(20);
    for (const { [YAML]: yaml, 'application/fhir+json': json } of contents)
      expect(JSON.parse(jsonOfYaml(yaml?.example as string))).toEqual(json?.example);
  });
});

/** The name of the method that the example `key` calls; undefined for an example with another name. */
const methodOf = (call: { readonly method?: string }, key: string): string | undefined =>
  call.method === key ? key : undefined;

function callsOf(
  template: string,
  method: string,
  { operationId, tags, parameters = [], requestBody, responses, security }: Operation,
): Call[] {
  const path = template.replace(
    /\{(\w+)\}/g,
    (_all, name) => parameters.find((parameter) => parameter.name === name)?.example ?? '',
  );
  const query = new URLSearchParams();
  for (const { in: place, name, example } of parameters) {
    if (place === 'query' && example !== undefined) query.append(name, example);
  }
  const call = {
    recordedAs: operationId,
    group: tags[0] ?? '',
    template,
    name: `${method} ${template}`,
    method: method.toUpperCase(),
    path: query.size === 0 ? path : `${path}?${query.toString()}`,
    isPublic: security?.length === 0,
    isForUsers: security?.some((scheme) => 'basic' in scheme) === false && security.length > 0,
  };
  // The answer of an OAuth endpoint depends on tokens, which no example can contain.
  const isStable = !template.startsWith('/auth') && !ANSWERED_BY_MOMENT.includes(call.name);
  const documented = isStable ? Object.values(responses['200']?.content ?? {})[0]?.example : undefined;
  const answered = documented === undefined ? {} : { answer: documented };
  if (requestBody === undefined) return [{ ...call, ...answered }];
  const contents = Object.entries(requestBody.content).filter(([mediaType]) => mediaType !== YAML);
  return contents.flatMap(([mediaType, content]) => {
    const answers = responses['200']?.content?.[mediaType]?.examples;
    const name = contents.length === 1 ? call.name : `${call.name} as ${mediaType}`;
    const bodies =
      content.examples === undefined
        ? [{ name, body: content.example ?? content.schema?.example, ...answered }]
        : Object.entries(content.examples).map(([key, { value }]) => ({
            name: `${name} ${key}`,
            body: value,
            answer: answers?.[key]?.value,
            recordedAs: template === '/rpc' ? methodOf(value, key) : operationId,
          }));
    return bodies.map(({ body, ...named }) => ({
      ...call,
      ...named,
      mediaType,
      body: mediaType.includes('form')
        ? new URLSearchParams(body as Record<string, string>).toString()
        : JSON.stringify(body),
    }));
  });
}
