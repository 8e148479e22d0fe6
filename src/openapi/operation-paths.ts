import { ANY_TYPE, type OperationDefinition } from '../operation/operation';
import { type OperationRegistry } from '../operation/operation.registry';
import { answer, jsonBody, type Paths, pathParameter, queryParameter } from './path-item';

/** Every registered `$operation`, those of other teams included. */
export function operationPaths(registry: OperationRegistry): Paths {
  return Object.fromEntries(registry.all().map(({ meta }) => [pathOfOperation(meta), operationItemOf(meta)]));
}

function pathOfOperation({ level, resourceType, code }: OperationDefinition): string {
  const parts = [
    '',
    'fhir',
    ...(level === 'system' ? [] : [resourceType ?? '{type}']),
    ...(level === 'instance' ? ['{id}'] : []),
    `$${code}`,
  ];
  return parts.join('/');
}

function operationItemOf({
  level,
  resourceType,
  methods,
  description,
  details,
  tag = 'Operations',
  exampleId = 'p7',
  parameters = [],
  exampleBody,
  exampleAnswer,
  hasLines,
  hasPage,
}: OperationDefinition): Paths[string] {
  const item = {
    tags: [tag],
    summary: description,
    ...(details === undefined ? {} : { description: details }),
    parameters: [
      ...(resourceType === ANY_TYPE ? [pathParameter('type', 'Patient')] : []),
      ...(level === 'instance' ? [pathParameter('id', exampleId)] : []),
      ...parameters.map(({ name, description: text }) => queryParameter(name, text)),
    ],
    responses: { '200': withText(answer('The result', 'Resource', exampleAnswer), { hasLines, hasPage }) },
  };
  return Object.fromEntries(
    methods.map((method) => [
      method.toLowerCase(),
      method === 'POST' && exampleBody !== undefined ? { ...item, requestBody: jsonBody(exampleBody) } : item,
    ]),
  );
}

/** NDJSON and HTML have no schema. */
const LINES = { 'application/fhir+ndjson': { schema: { type: 'string', description: 'One resource a line' } } };
const PAGE = { 'text/html': { schema: { type: 'string', description: 'A page for people, without scripts' } } };

const withText = (
  described: ReturnType<typeof answer>,
  { hasLines, hasPage }: { readonly hasLines: true | undefined; readonly hasPage: true | undefined },
): object => ({
  ...described,
  content: { ...described.content, ...(hasLines === true ? LINES : {}), ...(hasPage === true ? PAGE : {}) },
});
