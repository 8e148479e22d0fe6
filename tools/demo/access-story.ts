import { type Authorization, type HttpCall } from '../http-client';
import { jsonBody } from '../json-body';
import { expectThat } from './broken-promise';
import { CLIENT_ID, GUEST_ID, POLICY_ID, USER_ID } from './demo-data';
import { type Story } from './story';
import { textTable } from './text-table';
import { listAt, shown, stringAt, valueAt } from './value-at';

export interface DemoSecrets {
  readonly root: string;
  readonly app: string;
  readonly nursePassword: string;
  readonly guestPassword: string;
}

/**
 * Sets up a client, a user and a policy, and exchanges the user's password for the token that the rest of the demo
 * uses.
 */
export async function tellAccess(story: Story, secrets: DemoSecrets): Promise<Authorization> {
  const root = { user: 'root', password: secrets.root };

  story.step('Is the service there?');
  const health = await story.call({ method: 'GET', path: '/health' }, 200);
  story.tell(`status: ${stringAt(health.json, 'status')}`);
  expectThat(valueAt(health.json, 'status') === 'pass', 'the health status is "pass"');

  story.step('A client that may exchange passwords for tokens');
  const client = {
    secret: secrets.app,
    grant_types: ['password'],
    auth: { password: { token_format: 'jwt', token_expiration: 3600, refresh_token: true, secret_required: true } },
  };
  const stored = await story.call(
    { method: 'PUT', path: `/Client/${CLIENT_ID}`, authorization: root, body: jsonBody(client) },
    ...[200, 201],
  );
  expectThat(!stored.text.includes(secrets.app), 'the secret does not come back');
  story.tell('the secret is kept apart; no answer shows it again');

  story.step('A user');
  const user = {
    userName: USER_ID,
    email: `${USER_ID}@clinic.example`,
    password: secrets.nursePassword,
    name: { givenName: 'Noor', familyName: 'Brandt' },
  };
  await story.call({ method: 'PUT', path: `/User/${USER_ID}`, authorization: root, body: jsonBody(user) }, 200, 201);

  story.step('A policy that lets her in: without one, everything is forbidden');
  const policy = { engine: 'allow', link: [{ resourceType: 'User', id: USER_ID }] };
  await story.call(
    { method: 'PUT', path: `/AccessPolicy/${POLICY_ID}`, authorization: root, body: jsonBody(policy) },
    ...[200, 201],
  );

  const token = await tellToken(story, secrets);
  await tellSessions(story, token);
  return token;
}

async function tellToken(story: Story, { app, nursePassword }: DemoSecrets): Promise<Authorization> {
  story.step('Her password becomes an access token');
  const call = {
    method: 'POST',
    path: '/auth/token',
    authorization: { user: CLIENT_ID, password: app },
    body: { form: { grant_type: 'password', username: USER_ID, password: nursePassword } },
  } as const;
  const { json } = await story.call(call, 200);
  const bearer = stringAt(json, 'access_token');
  stringAt(json, 'refresh_token');
  expectThat(valueAt(json, 'token_type') === 'Bearer', 'the token type is Bearer');
  expectThat(valueAt(json, 'expires_in') === 3600, 'the token lives as long as the client says');
  expectThat(valueAt(json, 'userinfo', 'id') === USER_ID, 'the answer names the user');
  expectThat(bearer.split('.').length === 3, 'the token is a JWT');
  story.tell(`Bearer, a JWT, for ${shown(valueAt(json, 'expires_in'))} s, with a refresh token`);
  story.tell(`userinfo: ${shown(valueAt(json, 'userinfo', 'email'))}`);
  return named(story, 'TOKEN', call, bearer);
}

/**
 * Prints a line that stores the token of the call in a variable. Later lines show the variable instead of the token.
 */
function named(story: Story, name: string, call: HttpCall, bearer: string): Authorization {
  story.tell(`for $${name} in the lines below:`);
  story.tell(`export ${name}="$(${story.curlLine(call)} | node -p 'JSON.parse(fs.readFileSync(0)).access_token')"`);
  story.variables.set(name, bearer);
  return { bearer };
}

async function tellSessions(story: Story, authorization: Authorization): Promise<void> {
  story.step('The token has a Session');
  const answer = await story.call(
    { method: 'GET', path: '/Session?user=demo-nurse&active=true&_count=5', authorization },
    200,
  );
  const sessions = listAt(answer.json, 'entry').map((entry) => valueAt(entry, 'resource'));
  const rows = sessions.map((session) =>
    [['id'], ['user', 'id'], ['client', 'id'], ['active'], ['start']].map((path) => shown(valueAt(session, ...path))),
  );
  story.tell(textTable(['session', 'user', 'client', 'active', 'start'], rows));
  const isMine = (session: unknown): boolean =>
    valueAt(session, 'user', 'id') === USER_ID && valueAt(session, 'active') === true;
  expectThat(sessions.some(isMine), 'an active session of the user is listed');
}

/** Logs in another user, who may read patients only. Other requests are denied, and the server says why. */
export async function tellDenial(story: Story, nurse: Authorization, secrets: DemoSecrets): Promise<void> {
  story.step('A guest who may read patients, and nothing else');
  const put = (path: string, body: object): Promise<unknown> =>
    story.call({ method: 'PUT', path, authorization: nurse, body: jsonBody(body) }, 200, 201);
  await put(`/User/${GUEST_ID}`, { userName: GUEST_ID, password: secrets.guestPassword });
  await put(`/AccessPolicy/${GUEST_ID}-policy`, {
    engine: 'matcho',
    matcho: { 'request-method': 'get', params: { 'resource/type': 'Patient' } },
    link: [{ resourceType: 'User', id: GUEST_ID }],
  });
  const form = { grant_type: 'password', username: GUEST_ID, password: secrets.guestPassword };
  const client = { user: CLIENT_ID, password: secrets.app };
  const call = { method: 'POST', path: '/auth/token', authorization: client, body: { form } } as const;
  const { json } = await story.call(call, 200);
  const guest = named(story, 'GUEST_TOKEN', call, stringAt(json, 'access_token'));
  await story.call({ method: 'GET', path: '/fhir/Patient?_count=1', authorization: guest }, 200);

  story.step('Any other request is denied');
  const { status, text } = await story.call(
    { method: 'GET', path: '/fhir/Observation?_count=1', authorization: guest },
    ...[200, 403],
  );
  if (status === 200) {
    // The first start of a trial server stores this policy. It has no links, so it grants every request.
    await story.call({ method: 'GET', path: '/AccessPolicy/trial', authorization: nurse }, 200);
    story.tell('not here: AccessPolicy/trial lets every authenticated caller do everything, until you delete it');
    return;
  }
  const decision = /\/auth\/decisions\/[\w-]+/.exec(text)?.[0] ?? '';
  const why = await story.call({ method: 'GET', path: decision, authorization: nurse }, 200);
  const rows = listAt(why.json, 'policies').map((policy) =>
    [['id'], ['failed', 'path'], ['failed', 'reason']].map((path) => shown(valueAt(policy, ...path))),
  );
  story.tell(textTable(['policy', 'failed at', 'reason'], rows));
}

export async function tellGoodbye(story: Story, authorization: Authorization): Promise<void> {
  story.step('Goodbye: the session is closed, and its token is refused');
  const closed = await story.call({ method: 'DELETE', path: '/Session', authorization }, 200);
  expectThat(valueAt(closed.json, 'active') === false, 'the closed session is not active');
  await story.call({ method: 'GET', path: '/fhir/Patient?_count=1', authorization }, 401);
}
