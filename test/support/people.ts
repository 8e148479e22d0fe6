import { type TestApp, basicHeader } from './test-app';

/** A User with a password, and a Client that may exchange it. */
export interface Person {
  readonly userId: string;
  readonly password: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Value of the Authorization header with the person's access token. */
  readonly bearer: string;
}

/** Stores a User and a Client, and logs in; `mayDoEverything` adds a policy that is linked to the User. */
export async function login(app: TestApp, userId: string, { mayDoEverything = true } = {}): Promise<Person> {
  const [password, clientId, clientSecret] = [`password of ${userId}`, `client-of-${userId}`, `secret-of-${userId}`];
  await app.put(`/User/${userId}`, { userName: userId, email: `${userId}@svc.example`, password });
  await app.put(`/Client/${clientId}`, {
    secret: clientSecret,
    grant_types: ['password'],
    auth: { password: { refresh_token: true } },
  });
  if (mayDoEverything) {
    await app.put(`/AccessPolicy/policy-of-${userId}`, {
      engine: 'allow',
      link: [{ resourceType: 'User', id: userId }],
    });
  }
  const answer = await app.post(
    '/auth/token',
    new URLSearchParams({ grant_type: 'password', username: userId, password }).toString(),
    {
      authorization: basicHeader(clientId, clientSecret),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    },
  );
  const { access_token: token } = answer.json<{ access_token: string }>();
  return { userId, password, clientId, clientSecret, bearer: `Bearer ${token}` };
}
