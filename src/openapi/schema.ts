import { type OpenAPIObject } from '@nestjs/swagger';

export type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

export const schemaRef = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

/** Derives a schema from an example. The items of a list have the schema of its first item. */
export function schemaOfExample(example: unknown): Schema {
  if (example === null || example === undefined) return {};
  if (Array.isArray(example)) return { type: 'array', items: schemaOfExample(example[0]) };
  if (typeof example !== 'object') return { type: typeof example };
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(example).map(([name, value]) => [name, schemaOfExample(value)])),
    additionalProperties: true,
  };
}
