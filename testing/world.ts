import { assertDefinition } from '../src/platform/discovery/definition';
import { type TestApp, basicHeader } from './test-app';

/** A User with a password, and a Client through which the User logs in. */
export interface Person {
  readonly userId: string;
  readonly password: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Value of the Authorization header with the User's access token. */
  readonly bearer: string;
}

export interface PersonOptions {
  /**
   * AccessPolicies that {@link world} links to the User, so they must have no `link`. By default, one policy
   * that allows everything.
   */
  readonly policies?: readonly object[];
}

export interface World<Name extends string> {
  /** Users by their ids. {@link world} gives each User a Client, policies, and a token. */
  readonly people?: Readonly<Record<Name, PersonOptions>>;
  /** Bodies by their path below `/fhir`, such as `Patient/p1`. They are stored one after the other. */
  readonly resources?: Readonly<Record<string, string | object>>;
}

/**
 * Stores the data with which tests begin, and logs its Users in.
 * @throws Error with the answer of the server if the server refuses a request, and for a policy with a `link`
 * @example
 * const { nurse, guest } = await world(app, {
 *   people: { nurse: {}, guest: { policies: [{ engine: 'acme-read-only' }] } },
 *   resources: { 'Ward/w1': { beds: 12 } },
 * });
 * await app.get('/fhir/Ward/w1', { authorization: nurse.bearer });
 */
export async function world<Name extends string = never>(
  app: TestApp,
  world: World<Name>,
): Promise<Readonly<Record<Name, Person>>> {
  assertDefinition<World<Name>>(world, { 'people?': 'object', 'resources?': 'object' }, 'world');
  const { people, resources = {} } = world;
  await storeAll(app, Object.entries(resources));
  const loggedIn: [string, Person][] = [];
  for (const [userId, options] of Object.entries<PersonOptions>(people ?? {}))
    loggedIn.push([userId, await login(app, userId, options)]);
  return Object.fromEntries(loggedIn) as Record<Name, Person>;
}

/** Stores a User with policies, and a Client, and logs the User in. */
export async function login(app: TestApp, userId: string, options: PersonOptions = {}): Promise<Person> {
  assertDefinition<PersonOptions>(options, { 'policies?': { each: 'object' } }, `The person "${userId}" of world`);
  const { policies = [{ engine: 'allow' }] } = options;
  const [password, clientId, clientSecret] = [`password of ${userId}`, `client-of-${userId}`, `secret-of-${userId}`];
  const client = { secret: clientSecret, grant_types: ['password'], auth: { password: { refresh_token: true } } };
  // The links of a policy are alternatives: with a second link, the policy would grant more than the spec says.
  if (policies.some((policy) => 'link' in policy))
    throw new Error(
      `A policy of ${userId} has a "link", but world links each policy to its User. Leave "link" out. To grant one ` +
        'route, use {"engine": "matcho", "matcho": {"operation": {"id": "…"}}}.',
    );
  const link = [{ resourceType: 'User', id: userId }];
  await storeAll(app, [
    [`User/${userId}`, { userName: userId, email: `${userId}@svc.example`, password }],
    [`Client/${clientId}`, client],
    ...policies.map((policy, index): [string, object] => [
      `AccessPolicy/policy-of-${userId}${index === 0 ? '' : `-${index + 1}`}`,
      { ...policy, link },
    ]),
  ]);
  const form = new URLSearchParams({ grant_type: 'password', username: userId, password }).toString();
  const answer = await app.post('/auth/token', form, {
    authorization: basicHeader(clientId, clientSecret),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  if (answer.status !== 200)
    throw new Error(`The login of ${userId} was answered with ${answer.status}: ${answer.text}`);
  const { access_token: token } = answer.json<{ access_token: string }>();
  return { userId, password, clientId, clientSecret, bearer: `Bearer ${token}` };
}

/**
 * Stores bodies as they are given, one after the other, so that later ones are newer.
 * @param bodies bodies by their path below `/fhir`, such as `Patient/p1`
 * @throws Error if one is not stored
 */
export async function storeAll(
  app: TestApp,
  bodies: Iterable<readonly [path: string, body: string | object]>,
): Promise<void> {
  for (const [path, body] of bodies) {
    const { status, text } = await app.put(`/fhir/${path}`, body);
    if (status > 201) throw new Error(`${path} was answered with ${status}: ${text}`);
  }
}
