import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/test-app';
import { isLike } from './is-like';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly example?: string;
}

interface Operation {
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

interface Content {
  readonly example?: object;
  readonly examples?: Readonly<Record<string, { readonly value: object }>>;
  readonly schema?: { readonly example?: object };
}

/** What only an answer of the same moment can name. */
const OF_A_MOMENT = ['get /auth/decisions/{id}'];

/** A call as Swagger UI sends it when nothing is changed in the form. */
interface Call {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly mediaType?: string;
  readonly body?: string;
  /** What it is answered with, where the document tells it. */
  readonly answer?: unknown;
  readonly isPublic: boolean;
  /** Whether only a User's token opens it. */
  readonly isForUsers: boolean;
}

/** The earlier one of the two snapshots that the example of an amendment compares. */
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

describe('the examples of the OpenAPI document', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.post('/rpc', EARLIER_SNAPSHOT);
  });
  afterAll(() => app.close());

  /** The User and the Client of the examples, as they are stored by then. */
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

  it('can be sent as they are, one after the other, and are answered as they say', async () => {
    const { paths } = (await app.get('/api-json', { authorization: null })).json<{
      paths: Record<string, Record<string, Operation>>;
    }>();
    const calls = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([method]) => method !== 'delete' && !OF_A_MOMENT.includes(`${method} ${path}`))
        .flatMap(([method, operation]) => callsOf(path, method, operation)),
    );
    expect(calls.length).toBeGreaterThan(25);
    expect(calls.filter(({ path, answer }) => path === '/rpc' && answer === undefined)).toEqual([]);
    for (const { name, method, path, mediaType, body, answer: told, isPublic, isForUsers } of calls) {
      const answer = await app.send(method, path, {
        ...(isPublic ? { authorization: null } : {}),
        ...(isForUsers ? { authorization: await tokenOfTheUser() } : {}),
        ...(body === undefined ? {} : { body }),
        headers: mediaType === undefined ? {} : { 'Content-Type': mediaType },
      });
      expect([name, answer.status < 300 ? 'accepted' : answer.text]).toEqual([name, 'accepted']);
      if (told !== undefined && !isLike(told, answer.json())) expect([name, answer.json()]).toEqual([name, told]);
    }
  });
});

function callsOf(
  template: string,
  method: string,
  { parameters = [], requestBody, responses, security }: Operation,
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
    name: `${method} ${template}`,
    method: method.toUpperCase(),
    path: query.size === 0 ? path : `${path}?${query.toString()}`,
    isPublic: security?.length === 0,
    isForUsers: security?.some((scheme) => 'basic' in scheme) === false && security.length > 0,
  };
  // What an endpoint of OAuth answers depends on tokens that no example can hold.
  const told = template.includes('$') ? Object.values(responses['200']?.content ?? {})[0]?.example : undefined;
  const answered = told === undefined ? {} : { answer: told };
  const [mediaType, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (mediaType === undefined || content === undefined) return [{ ...call, ...answered }];
  const answers = responses['200']?.content?.[mediaType]?.examples;
  const bodies =
    content.examples === undefined
      ? [{ name: call.name, body: content.example ?? content.schema?.example, ...answered }]
      : Object.entries(content.examples).map(([key, { value }]) => ({
          name: `${call.name} ${key}`,
          body: value,
          answer: answers?.[key]?.value,
        }));
  return bodies.map(({ body, ...named }) => ({
    ...call,
    ...named,
    mediaType,
    body: mediaType.includes('form')
      ? new URLSearchParams(body as Record<string, string>).toString()
      : JSON.stringify(body),
  }));
}
