import { type ExtraFormat } from '../fhir/format';
import { ANY_TYPE, type OperationDefinition } from '../operation/operation';
import { type OperationRegistry } from '../operation/operation.registry';
import { answer, jsonBody, type Paths, pathParameter, REFUSALS } from './path-item';

/** Every registered `$operation`, those of other teams included. */
export function operationPaths(registry: OperationRegistry): Paths {
  return Object.fromEntries(registry.all().map(({ meta }) => [pathOf(meta), itemOf(meta)]));
}

function pathOf({ level, resourceType, code }: OperationDefinition): string {
  const parts = [
    '',
    'fhir',
    ...(level === 'system' ? [] : [resourceType ?? '{type}']),
    ...(level === 'instance' ? ['{id}'] : []),
    `$${code}`,
  ];
  return parts.join('/');
}

function itemOf({
  level,
  resourceType,
  methods,
  description,
  exampleId = 'p7',
  parameters = [],
  exampleBody,
  extraFormat,
}: OperationDefinition): Paths[string] {
  const item = {
    tags: ['Operations'],
    summary: description,
    parameters: [
      ...(resourceType === ANY_TYPE ? [pathParameter('type', 'Patient')] : []),
      ...(level === 'instance' ? [pathParameter('id', exampleId)] : []),
      ...parameters.map(({ name, description: text }) => ({
        name,
        in: 'query',
        description: text,
        schema: { type: 'string' as const },
      })),
    ],
    responses: {
      '200': extraFormat === undefined ? answer('The result') : withExtra(answer('The result'), extraFormat),
      ...REFUSALS,
    },
  };
  return Object.fromEntries(
    methods.map((method) => [
      method.toLowerCase(),
      method === 'POST' && exampleBody !== undefined ? { ...item, requestBody: jsonBody(exampleBody) } : item,
    ]),
  );
}

/** NDJSON and HTML have no schema. */
const EXTRA: Readonly<Record<ExtraFormat, object>> = {
  lines: { 'application/fhir+ndjson': { schema: { type: 'string', description: 'One resource a line' } } },
  page: { 'text/html': { schema: { type: 'string', description: 'A page for people, without scripts' } } },
};

const withExtra = (described: ReturnType<typeof answer>, extra: ExtraFormat): object => ({
  ...described,
  content: { ...described.content, ...EXTRA[extra] },
});
