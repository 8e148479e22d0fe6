import { type Grants } from '../auth/grants/grant.registry';
import { mapOperations, type Paths } from './path-item';
import { type Schema } from './schema';

interface TokenRequestBody {
  readonly content: Record<string, { readonly schema: { readonly properties: Record<string, Schema> } }>;
}

/** Describes the grant types of all modules at the token endpoint. */
export const withGrantTypes = (paths: Paths, grants: Grants): Paths =>
  mapOperations(paths, (operation, path, method) => {
    if (path !== '/auth/token' || method !== 'post') return operation;
    const { content } = operation.requestBody as TokenRequestBody;
    for (const { schema } of Object.values(content))
      schema.properties.grant_type = { type: 'string', enum: grants.all().map(({ meta }) => meta) };
    return operation;
  });
