import { capitalized } from '../fhir/definitions/definitions';
import { ANY_TYPE, type AnswerParts, type OperationDefinition } from '../operation/operation';
import { type OperationRegistry } from '../operation/operation.registry';
import { pathOf } from '../operation/unknown-operation';
import { answer, jsonBody, type Paths, pathParameter, queryParameter } from './path-item';
import { primitiveSchema } from './resource-schemas';
import { pascal } from './rpc-path';
import { type Schema, schemaRef } from './schema';

/** The paths of all registered operations (`$name`), including operations that other teams register. */
export const operationPaths = (registry: OperationRegistry): Paths =>
  Object.fromEntries(registry.all().map(({ meta }) => [pathOfOperation(meta), operationItemOf(meta)]));

/** A schema for the response of each operation that declares its parts. */
export const operationSchemas = (registry: OperationRegistry): Record<string, Schema> =>
  Object.fromEntries(
    registry
      .all()
      .flatMap(({ meta }) =>
        meta.answerParts === undefined ? [] : [[answerName(meta), parametersSchema(meta.answerParts)]],
      ),
  );

const answerName = ({ code, resourceType }: OperationDefinition): string =>
  pascal([...(resourceType === undefined ? [] : [resourceType]), code, 'answer'].join('-'));

const parametersSchema = (parts: AnswerParts): Schema => ({
  type: 'object',
  required: ['resourceType'],
  properties: { resourceType: { type: 'string', enum: ['Parameters'] }, parameter: partsSchema(parts) },
});

function partsSchema(parts: AnswerParts): Schema {
  const [first = {}, ...others] = Object.entries(parts).map(([name, part]) => partSchema(name, part));
  return { type: 'array', items: others.length === 0 ? first : { oneOf: [first, ...others] } };
}

function partSchema(name: string, part: string | AnswerParts): Schema {
  const [member, schema] =
    typeof part === 'string' ? [`value${capitalized(part)}`, valueSchema(part)] : ['part', partsSchema(part)];
  return {
    type: 'object',
    required: ['name', member],
    properties: { name: { type: 'string', enum: [name] }, [member]: schema },
  };
}

/** The schema of a type. Data types begin with a capital letter, primitives do not. */
const valueSchema = (type: string): Schema => (/^[A-Z]/.test(type) ? schemaRef(type) : primitiveSchema(type));

const pathOfOperation = (definition: OperationDefinition): string => `/fhir${pathOf(definition)}`;

function operationItemOf(meta: OperationDefinition): Paths[string] {
  const { level, resourceType, methods, details, exampleId = 'p7', parameters = [], exampleBody } = meta;
  const item = {
    tags: [meta.tag ?? 'Operations'],
    summary: meta.description,
    ...(details === undefined ? {} : { description: details }),
    ...(meta.needsSession === true ? { security: [{ oauth2: [] }, { bearer: [] }] } : {}),
    parameters: [
      ...(resourceType === ANY_TYPE ? [pathParameter('type', 'Patient')] : []),
      ...(level === 'instance' ? [pathParameter('id', exampleId)] : []),
      ...parameters.map(({ name, description }) => queryParameter(name, description)),
    ],
    responses: { '200': answerOf(meta) },
  };
  const { resourceType: exampleType } = (exampleBody ?? {}) as { readonly resourceType?: string };
  const withBody = exampleBody === undefined ? item : { ...item, requestBody: jsonBody(exampleBody, exampleType) };
  return Object.fromEntries(methods.map((method) => [method.toLowerCase(), method === 'POST' ? withBody : item]));
}

/** Contents of responses in NDJSON and HTML, which have no schema. */
const LINES = { 'application/fhir+ndjson': { schema: { type: 'string', description: 'One resource a line' } } };
const PAGE = { 'text/html': { schema: { type: 'string', description: 'A page for people, without scripts' } } };

function answerOf(meta: OperationDefinition): ReturnType<typeof answer> {
  const schema = meta.answerParts === undefined ? 'Resource' : answerName(meta);
  const { description, content } = answer('The result', schema, meta.exampleAnswer);
  return {
    description,
    content: { ...content, ...(meta.hasLines === true ? LINES : {}), ...(meta.hasPage === true ? PAGE : {}) },
  };
}
