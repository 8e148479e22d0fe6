import { type Received, type Sent, type TestApp } from './test-app';

/** Stores a resource under the type and id that it says. @throws Error when it is not stored. */
export async function storeOn(app: TestApp, resource: object): Promise<void> {
  const { resourceType, id } = resource as { resourceType: string; id: string };
  await storeAll(app, [[`${resourceType}/${id}`, resource]]);
}

/**
 * Stores bodies as they are sent, one after the other, so that later ones are newer.
 * @param world paths below the root, such as `Patient/p1`, with a body each
 * @throws Error when one is not stored
 */
export async function storeAll(
  app: TestApp,
  world: Iterable<readonly [path: string, body: string | object]>,
): Promise<void> {
  for (const [path, body] of world) {
    const { status, text } = await app.put(`/fhir/${path}`, body);
    if (status > 201) throw new Error(`${path} was answered with ${status}: ${text}`);
  }
}

/** Sends an active SearchParameter, whose code is its id; `members` say what it finds. */
export const putParameter = (app: TestApp, id: string, members: object, sent?: Sent): Promise<Received> => {
  const parameter = {
    resourceType: 'SearchParameter',
    id,
    url: `http://ward.example/SearchParameter/${id}`,
    name: id,
    status: 'active',
    description: 'A parameter of the specs',
    code: id,
    ...members,
  };
  return app.put(`/SearchParameter/${id}`, parameter, sent);
};
