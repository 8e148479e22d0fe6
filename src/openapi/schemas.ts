import { type OpenAPIObject } from '@nestjs/swagger';

type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const open = { type: 'object', additionalProperties: true } as const;
const list = (items: Schema): Schema => ({ type: 'array', items });
export const schemaRef = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

const instant: Schema = { ...text, format: 'date-time' };

const metaSchema = (description: string, properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  description,
  properties: {
    versionId: { ...text, example: '1' },
    lastUpdated: instant,
    ...properties,
    profile: list(text),
    tag: list(open),
    security: list(open),
  },
});

const META = metaSchema(
  'versionId, lastUpdated and the extension of the time of creation (`SVC_CREATED_AT_URL`), which stands first, are the server’s; all else is kept as sent.',
  {
    extension: list({
      ...open,
      required: ['url'],
      properties: { url: { ...text, example: 'urn:svc:created-at' }, valueInstant: instant },
    }),
  },
);

const NATIVE_META = metaSchema('versionId, lastUpdated and createdAt are the server’s; all else is kept as sent.', {
  createdAt: { ...instant, description: 'Time of version 1' },
});

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
export const SCHEMAS = {
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
    meta: NATIVE_META,
    active: flag,
    secret: { ...text, description: 'Shown as ***; sent back so, it is kept.' },
    grant_types: list(text),
    auth: open,
  }),
  User: resource('User', {
    meta: NATIVE_META,
    userName: text,
    email: text,
    password: { ...text, description: 'Shown as ***; sent back so, it is kept.' },
    inactive: flag,
  }),
  AccessPolicy: resource(
    'AccessPolicy',
    { meta: NATIVE_META, engine: { ...text, example: 'allow' }, link: list(NATIVE_REFERENCE) },
    ['engine'],
  ),
  Session: resource('Session', {
    meta: NATIVE_META,
    active: flag,
    type: text,
    user: NATIVE_REFERENCE,
    client: NATIVE_REFERENCE,
    parent: NATIVE_REFERENCE,
    start: instant,
    end: instant,
  }),
  SDCDocument: resource('SDCDocument', {
    meta: NATIVE_META,
    status: text,
    type: text,
    patient: NATIVE_REFERENCE,
    author: NATIVE_REFERENCE,
  }),
  SvcSubscriptionStatus: resource(
    'SvcSubscriptionStatus',
    {
      status: text,
      type: text,
      notificationEvent: list({
        type: 'object',
        required: ['eventNumber'],
        properties: {
          eventNumber: { type: 'integer', format: 'int64', minimum: 1 },
          focus: { type: 'object', properties: { reference: text } },
        },
      }),
      topic: text,
      'topic-destination': { type: 'object', properties: { reference: text } },
    },
    ['type', 'topic-destination'],
  ),
  SvcSubscriptionTopic: resource(
    'SvcSubscriptionTopic',
    {
      url: { ...text, description: 'The canonical that destinations name, as url or url|version' },
      status: { ...text, enum: ['draft', 'active', 'retired', 'unknown'], description: 'Only active fires' },
      trigger: list({
        type: 'object',
        required: ['resource'],
        description: 'A write is an event when one of the triggers matches it',
        properties: {
          resource: { ...text, description: 'A resource type, or the URL of its StructureDefinition' },
          supportedInteraction: {
            ...list({ ...text, enum: ['create', 'update', 'delete'] }),
            description: 'All three when left out; a patch is an update',
          },
          fhirPathCriteria: {
            ...text,
            description: 'FHIRPath that must yield true, with %current and %previous; every write when left out',
          },
        },
      }),
    },
    ['url', 'status'],
  ),
  SvcTopicDestination: resource(
    'SvcTopicDestination',
    {
      kind: { ...text, example: 'webhook-at-least-once', description: 'meta.profile must name its profile' },
      topic: { ...text, description: 'The url of a SvcSubscriptionTopic; it may be stored later' },
      content: {
        ...text,
        enum: ['full-resource', 'id-only', 'empty'],
        description: 'What is sent of a changed resource: all of it (the default), its URL, or nothing',
      },
      includeEntryAction: { ...flag, description: 'Tells create, update or delete of each entry, in an extension' },
      includeVersionId: { ...flag, description: 'Tells the version of each entry, in an extension' },
      includeVersionIdInFocusReference: { ...flag, description: 'Makes the focus Type/id/_history/version' },
      enableLogging: { ...flag, description: 'Writes each attempt to the log of the server' },
      logLevel: { ...text, enum: ['error', 'warn', 'info', 'debug', 'trace'], description: 'info when left out' },
      principal: { ...NATIVE_REFERENCE, description: 'The User whose rights count; who stores it when left out' },
      parameter: list({
        ...open,
        required: ['name'],
        description:
          'endpoint (valueUrl, required), timeout (valueUnsignedInt, seconds, 30), keepAlive (valueInteger, seconds, 120; -1: none), maxMessagesInBatch (valueUnsignedInt, 20), header (valueString, "Name: value", repeats), secret (valueString, base64, signs as Standard Webhooks; twice while it changes). A secret is read as ***, and so are the values of headers by callers who may not update the destination.',
        properties: {
          name: text,
          valueUrl: text,
          valueUnsignedInt: { type: 'integer', minimum: 0 },
          valueInteger: { type: 'integer' },
          valueString: text,
        },
      }),
    },
    ['kind', 'topic', 'parameter'],
  ),
} satisfies Readonly<Record<string, Schema>>;

/** Names for `$ref`. */
export type SchemaName = keyof typeof SCHEMAS;
