import { mapOperations, type Method, type OperationItem, type Paths } from './path-item';
import { RECORDED } from './recorded';
import { type Schema, schemaOfExample, schemaRef } from './schema';

interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: unknown;
}

type Responses = Record<string, { readonly description: string; readonly content?: Record<string, Content> }>;

/** Adds to each operation its id, its recorded response, and schemas derived from the examples. */
export const completed = (paths: Paths, schemas: Readonly<Record<string, Schema>>): Paths =>
  mapOperations(paths, (operation, path, method) => {
    const operationId =
      operation.operationId?.includes('_') === false ? operation.operationId : operationIdOf(method, path);
    const responses = operation.responses as Responses;
    const [status] = Object.keys(responses).filter((name) => name.startsWith('2'));
    const recorded = RECORDED[operationId];
    const body = operation.requestBody as { readonly content: Record<string, Content> } | undefined;
    return {
      ...operation,
      operationId,
      ...(body === undefined ? {} : { requestBody: { ...body, content: mapValues(body.content, withSchema) } }),
      responses: {
        ...responses,
        ...(status === undefined ? {} : { [status]: answered(responses[status], recorded, schemas) }),
      },
    } as OperationItem;
  });

/** The id of an operation, such as `putClientById`. An operation that HL7 names keeps HL7's name. */
const operationIdOf = (method: Method, path: string): string =>
  method +
  path
    .replace(/^\/fhir(?=\/)/, '')
    .replace(/\{(\w+)\}/g, 'by-$1')
    .replace(/(?<![^A-Za-z0-9])[^A-Za-z0-9]+([A-Za-z0-9])/g, (_all, letter: string) => letter.toUpperCase());

function answered(
  response: Responses[string] | undefined,
  recorded: object | undefined,
  schemas: Readonly<Record<string, Schema>>,
): object {
  const { content, ...described } = { description: '', ...response };
  if (recorded === undefined)
    return { ...described, ...(content === undefined ? {} : { content: mapValues(content, withSchema) }) };
  const [[mediaType, known] = ['application/json', {}], ...others] = Object.entries<Content>(content ?? {});
  const { resourceType = '' } = recorded as { readonly resourceType?: string };
  const isOfType = schemas[resourceType] !== undefined;
  const isGeneric =
    known.schema === undefined || ('$ref' in known.schema && known.schema.$ref === schemaRef('Resource').$ref);
  const schema = !isGeneric ? known.schema : isOfType ? schemaRef(resourceType) : schemaOfExample(recorded);
  const example = known.example ?? recorded;
  return { ...described, content: { [mediaType]: { schema, example }, ...Object.fromEntries(others) } };
}

/** The content of a body with a schema. If it has only an example, its schema is that of the example. */
function withSchema(content: Content): Content {
  const { schema, example } = content;
  const shown = schema !== undefined && 'example' in schema ? (schema.example as unknown) : example;
  const isDescribed = schema !== undefined && Object.keys(schema).some((key) => !['type', 'example'].includes(key));
  if (isDescribed || shown === undefined) return content;
  return { ...content, schema: { ...schemaOfExample(shown), example: shown } };
}

const mapValues = <T>(record: Readonly<Record<string, T>>, change: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
