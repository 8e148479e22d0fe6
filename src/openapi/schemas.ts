import { type OpenAPIObject } from '@nestjs/swagger';

type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

/** Names for `$ref`. */
export type SchemaName =
  | 'Resource'
  | 'Bundle'
  | 'OperationOutcome'
  | 'Parameters'
  | 'Client'
  | 'User'
  | 'AccessPolicy'
  | 'Session'
  | 'SDCDocument'
  | 'SvcSubscriptionTopic'
  | 'SvcTopicDestination';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const open = { type: 'object', additionalProperties: true } as const;
const list = (items: Schema): Schema => ({ type: 'array', items });
export const schemaRef = (name: SchemaName): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

const META: Schema = {
  type: 'object',
  description: 'versionId and lastUpdated are the server’s; profile, tag and security are kept as sent.',
  properties: {
    versionId: { ...text, example: '1' },
    lastUpdated: { ...text, format: 'date-time' },
    profile: list(text),
    tag: list(open),
    security: list(open),
  },
};

const resource = (
  type: string | undefined,
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema => ({
  type: 'object',
  required: ['resourceType', ...required],
  properties: {
    resourceType: type === undefined ? text : { ...text, enum: [type] },
    id: { ...text, pattern: '^[A-Za-z0-9.-]{1,64}$' },
    meta: META,
    ...properties,
  },
  additionalProperties: true,
});

const NATIVE_REFERENCE: Schema = {
  type: 'object',
  required: ['resourceType', 'id'],
  properties: { resourceType: text, id: text, display: text },
};

/**
 * The shapes of this API's own types and of FHIR's containers. The 146 types of R4 are `Resource`: their tables stand at
 * http://hl7.org/fhir/R4, and the server checks by them.
 */
export const SCHEMAS: Readonly<Record<SchemaName, Schema>> = {
  Resource: resource(undefined, {}),
  Bundle: resource(
    'Bundle',
    {
      type: {
        ...text,
        enum: ['searchset', 'history', 'batch', 'transaction', 'batch-response', 'transaction-response', 'collection'],
      },
      total: { type: 'integer' },
      link: list({ type: 'object', properties: { relation: text, url: text } }),
      entry: list({
        type: 'object',
        properties: {
          fullUrl: text,
          resource: schemaRef('Resource'),
          search: { type: 'object', properties: { mode: { ...text, enum: ['match', 'include', 'outcome'] } } },
          request: { type: 'object', properties: { method: text, url: text, ifMatch: text, ifNoneExist: text } },
          response: {
            type: 'object',
            properties: {
              status: text,
              location: text,
              etag: text,
              lastModified: text,
              outcome: schemaRef('OperationOutcome'),
            },
          },
        },
      }),
    },
    ['type'],
  ),
  OperationOutcome: resource(
    'OperationOutcome',
    {
      issue: list({
        type: 'object',
        required: ['severity', 'code'],
        properties: {
          severity: { ...text, enum: ['fatal', 'error', 'warning', 'information'] },
          code: { ...text, example: 'not-found' },
          diagnostics: text,
          expression: list(text),
        },
      }),
    },
    ['issue'],
  ),
  Parameters: resource('Parameters', { parameter: list({ ...open, required: ['name'], properties: { name: text } }) }),
  Client: resource('Client', {
    active: flag,
    secret: { ...text, description: 'Shown as ***; sent back so, it is kept.' },
    grant_types: list(text),
    auth: open,
  }),
  User: resource('User', {
    userName: text,
    email: text,
    password: { ...text, description: 'Shown as ***; sent back so, it is kept.' },
    inactive: flag,
  }),
  AccessPolicy: resource('AccessPolicy', { engine: { ...text, example: 'allow' }, link: list(NATIVE_REFERENCE) }, [
    'engine',
  ]),
  Session: resource('Session', {
    active: flag,
    type: text,
    user: NATIVE_REFERENCE,
    client: NATIVE_REFERENCE,
    parent: NATIVE_REFERENCE,
    start: { ...text, format: 'date-time' },
    end: { ...text, format: 'date-time' },
  }),
  SDCDocument: resource('SDCDocument', {
    status: text,
    type: text,
    patient: NATIVE_REFERENCE,
    author: NATIVE_REFERENCE,
  }),
  SvcSubscriptionTopic: resource(
    'SvcSubscriptionTopic',
    {
      url: text,
      status: text,
      trigger: list({
        type: 'object',
        properties: { resource: text, supportedInteraction: list(text), fhirPathCriteria: text },
      }),
    },
    ['url', 'status'],
  ),
  SvcTopicDestination: resource(
    'SvcTopicDestination',
    {
      kind: { ...text, example: 'webhook-at-least-once' },
      topic: text,
      content: { ...text, enum: ['full-resource', 'id-only', 'empty'] },
      parameter: list({ ...open, required: ['name'], properties: { name: text } }),
    },
    ['kind', 'topic', 'parameter'],
  ),
};
