import { type Client } from 'pg';
import { eventually } from '../../testing/eventually';
import { type Received, type Sent, type TestApp } from '../../testing/test-app';
import { storeAll } from '../../testing/world';

export async function storeOn(app: TestApp, resource: object): Promise<void> {
  const { resourceType, id } = resource as { resourceType: string; id: string };
  await storeAll(app, [[`${resourceType}/${id}`, resource]]);
}

/** Stores an active SearchParameter whose code is its id; `members` define the rest. */
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

/**
 * Waits until no index job for a search parameter is running.
 * @param definitionId only of this SearchParameter
 */
export const indexesSettled = (client: Client, definitionId?: string): Promise<true> =>
  eventually(
    `the indexes${definitionId === undefined ? '' : ` of ${definitionId}`} are settled`,
    async () => {
      const { rows } = await client.query(
        `select from search_parameter_state where state <> 'active' and ($1::text is null or definition_id = $1) limit 1`,
        [definitionId],
      );
      return rows.length === 0;
    },
    60_000,
  );
