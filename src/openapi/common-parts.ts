import { type OpenAPIObject } from '@nestjs/swagger';
import { type Environment } from '../platform/config/environment';
import {
  headerParameter,
  mapOperations,
  type Method,
  type OperationItem,
  type Paths,
  queryParameter,
  refusedWith,
} from './path-item';

type Parameters = NonNullable<NonNullable<OpenAPIObject['components']>['parameters']>;

const enumOf = (name: string, description: string, values: readonly string[]): object => ({
  ...queryParameter(name, description),
  schema: { type: 'string', enum: [...values] },
});

const SUMMARIES = ['true', 'text', 'data', 'count', 'false'];

/** Parameters that many routes share. Each is once in the document. */
export const commonParameters = ({ topicCorrelationHeader }: Environment): Parameters =>
  ({
    format: queryParameter('_format', 'json, yaml or a media type; before Accept'),
    pretty: enumOf('_pretty', 'true spreads the answer over lines', ['true', 'false']),
    summary: enumOf(
      '_summary',
      'A part of the resource, tagged SUBSETTED; count is for searches and histories',
      SUMMARIES,
    ),
    elements: queryParameter(
      '_elements',
      'Only these elements and the mandatory ones: name,birthDate; -photo leaves one out',
    ),
    ifNoneMatch: headerParameter('If-None-Match', 'W/"2": 304 when this still is the version'),
    ifModifiedSince: headerParameter('If-Modified-Since', 'An HTTP date: 304 when nothing changed since'),
    prefer: headerParameter('Prefer', 'return=minimal, return=representation or return=OperationOutcome'),
    isolation: {
      ...headerParameter('x-max-isolation-level', 'The isolation level of the transaction; 412 when it cannot be kept'),
      schema: { type: 'string', enum: ['serializable', 'repeatable-read', 'read-committed'] },
    },
    topicCorrelation: headerParameter(
      topicCorrelationHeader,
      'Events of this write are delivered with it as correlationId; at most 256 printable ASCII characters',
    ),
  }) as Parameters;

const refTo = (name: string): { $ref: string } => ({ $ref: `#/components/parameters/${name}` });

/**
 * Adds to each FHIR route the parameters and responses that all routes of its kind have. So a route describes only what
 * is particular to it.
 */
export const withCommonParts = (paths: Paths): Paths =>
  mapOperations(paths, (operation, path, method) =>
    isFhir(path) ? completedOperation(path, method, operation) : operation,
  );

/** Whether a path is of the resource API or an operation, on either root. Tokens, RPC and health are not FHIR. */
const isFhir = (path: string): boolean => /^\/(?:fhir(?:\/|$)|metadata$|_history$|[A-Z]\w*(?:\/|$))/.test(path);

function completedOperation(path: string, method: Method, operation: OperationItem): OperationItem {
  const { responses } = operation;
  const isRead = method === 'get' && ONE_VERSION.test(path);
  const hasBody = method !== 'get' && method !== 'delete';
  return {
    ...operation,
    parameters: [...(operation.parameters ?? []), ...commonNames(path, method).map(refTo)],
    responses: {
      ...responses,
      ...(isRead ? NOT_MODIFIED : {}),
      '400': responses['400'] ?? refusedWith('A parameter or the body cannot be read'),
      '406': refusedWith('The format that is asked for cannot be written'),
      ...(hasBody ? { ...BODY_REFUSALS, ...(responses['415'] === undefined ? {} : { '415': responses['415'] }) } : {}),
      default: refusedWith('Any other error; a 5xx contains a request id'),
    },
  };
}

const NOT_MODIFIED = { '304': { description: 'The version in If-None-Match or If-Modified-Since is the current one' } };
const BODY_REFUSALS = {
  '413': refusedWith('The body is too large'),
  '415': refusedWith('The body is of no media type that this route takes'),
};

/** Pattern of paths that return one version of one resource: read, vread and the CapabilityStatement. */
const ONE_VERSION = /(?:\{id\}|\{version\}|metadata)$/;

function commonNames(path: string, method: Method): string[] {
  if (path.includes('$')) return ['format', 'pretty'];
  if (method === 'get') {
    const parts = ['format', 'pretty', 'summary', 'elements'];
    return ONE_VERSION.test(path) ? [...parts, 'ifNoneMatch', 'ifModifiedSince'] : parts;
  }
  return path.endsWith('_search')
    ? ['format', 'pretty']
    : ['format', 'pretty', 'prefer', 'isolation', 'topicCorrelation'];
}
