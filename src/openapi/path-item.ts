import { type OpenAPIObject } from '@nestjs/swagger';

/** Shapes of the OpenAPI document, as @nestjs/swagger types them. */
export type Paths = OpenAPIObject['paths'];
export type PathItem = Paths[string];
export type OperationItem = NonNullable<PathItem['get']>;

export const FHIR_MEDIA_TYPE = 'application/fhir+json';

export const pathParameter = (name: string, example: string): NonNullable<OperationItem['parameters']>[number] => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
  example,
});

export const queryParameter = (
  name: string,
  description: string,
  example?: string,
): NonNullable<OperationItem['parameters']>[number] => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string' },
  ...(example === undefined ? {} : { example }),
});

/** A header that a form must not fill in by itself: the example is in the description. */
export const headerParameter = (
  name: string,
  description: string,
): NonNullable<OperationItem['parameters']>[number] => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
});

export const jsonBody = (example: object): NonNullable<OperationItem['requestBody']> => ({
  required: true,
  content: { [FHIR_MEDIA_TYPE]: { schema: { type: 'object' }, example } },
});

const OUTCOME = {
  content: { [FHIR_MEDIA_TYPE]: { schema: { type: 'object' as const, description: 'OperationOutcome' } } },
};

/** What any call with credentials may be refused with. */
export const REFUSALS: OperationItem['responses'] = {
  '401': { description: 'No live credentials', ...OUTCOME },
  '403': { description: 'No AccessPolicy grants the call', ...OUTCOME },
};

export const refusal = (description: string): { description: string; content: (typeof OUTCOME)['content'] } => ({
  description,
  ...OUTCOME,
});

export const answer = (
  description: string,
): { description: string; content: Record<string, { schema: { type: 'object' } }> } => ({
  description,
  content: { [FHIR_MEDIA_TYPE]: { schema: { type: 'object' } } },
});
