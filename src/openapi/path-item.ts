import { type OpenAPIObject } from '@nestjs/swagger';
import { outcomeOf } from '../fhir/edge/operation-outcome';
import { ServiceError } from '../platform/errors/service-error';
import { YamlOfJson } from '../platform/yaml/print-yaml';
import { type Schema, schemaRef } from './schema';

/** Types for parts of the OpenAPI document, from the types of @nestjs/swagger. */
export type Paths = OpenAPIObject['paths'];
export type OperationItem = NonNullable<Paths[string]['get']>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof METHODS)[number];

export function mapOperations(
  paths: Paths,
  change: (operation: OperationItem, path: string, method: Method) => OperationItem,
): Paths {
  const changed = structuredClone(paths);
  for (const [path, item] of Object.entries(changed)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation !== undefined) item[method] = change(operation, path, method);
    }
  }
  return changed;
}

const FHIR_MEDIA_TYPE = 'application/fhir+json';
const YAML_MEDIA_TYPE = 'text/yaml';

export type Parameter = NonNullable<OperationItem['parameters']>[number];
const TEXT = { type: 'string' } as const;

export const pathParameter = (name: string, example: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  schema: TEXT,
  example,
});

export const queryParameter = (name: string, description: string, example?: string): Parameter => ({
  name,
  in: 'query',
  description,
  schema: TEXT,
  ...(example === undefined ? {} : { example }),
});

/** Its example is part of the description, since Swagger UI would fill an example into its form. */
export const headerParameter = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  description,
  schema: TEXT,
});

export const jsonBody = (example: object, schema = 'Resource'): NonNullable<OperationItem['requestBody']> => ({
  required: true,
  content: {
    [FHIR_MEDIA_TYPE]: { schema: schemaRef(schema), example },
    [YAML_MEDIA_TYPE]: {
      schema: { type: 'string', description: 'The same as YAML 1.2, at most 1 MiB' },
      example: yamlOf(example),
    },
  },
});

/** The example as YAML: without one, Swagger UI fills the word "string" into its form. */
const yamlOf = (example: object): string => [...new YamlOfJson().print(JSON.stringify(example))].join('');

interface DescribedAnswer {
  description: string;
  content: Record<string, { schema: Schema; example?: object }>;
}

export const answer = (description: string, schema = 'Resource', example?: object): DescribedAnswer => ({
  description,
  content: {
    [FHIR_MEDIA_TYPE]: { schema: schemaRef(schema), ...(example === undefined ? {} : { example }) },
    [YAML_MEDIA_TYPE]: { schema: { type: 'string', description: 'The same as YAML 1.2' } },
  },
});

export const refusedWith = (description: string, example?: object): DescribedAnswer =>
  answer(description, 'OperationOutcome', example);

const REJECTED = outcomeOf(
  new ServiceError('token-rejected', 'The access token is not valid: unknown, expired, or its Session is closed.'),
);
const DENIED = outcomeOf(new ServiceError('policy-missing', 'No AccessPolicy grants this request.'));

/** The refusals that any authenticated call may receive, by status. */
const REFUSALS: OperationItem['responses'] = {
  '401': refusedWith('No live credentials', REJECTED),
  '403': refusedWith('No AccessPolicy grants the call', DENIED),
};

export const withRefusals = (paths: Paths): Paths =>
  mapOperations(paths, (operation) => ({ ...operation, responses: { ...operation.responses, ...REFUSALS } }));
