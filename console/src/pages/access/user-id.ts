import { type SvcClient, SvcError } from 'svc-health-client';

/** The id of a User for an id, user name or email, as at login. An unknown name is returned unchanged. */
export async function userIdOf(client: SvcClient, typed: string): Promise<string> {
  for (const parameter of ['_id', 'userName', 'email']) {
    if (parameter === '_id' && !/^[A-Za-z0-9.-]{1,64}$/.test(typed)) continue;
    const query = {
      [parameter]: typed.replaceAll(/[\\,$|]/g, String.raw`\$&`),
      _elements: 'id',
      _count: 2,
      _total: 'none',
    };
    try {
      const found: string[] = [];
      for await (const { id } of client.search('User', query)) if (id !== undefined) found.push(id);
      if (found.length === 1 && found[0] !== undefined) return found[0];
    } catch (error) {
      // Callers without the right to read Users can use the id.
      if (error instanceof SvcError && error.status === 403) return typed;
      throw error;
    }
  }
  return typed;
}
