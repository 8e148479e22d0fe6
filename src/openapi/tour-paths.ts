import {
  answer,
  headerParameter,
  jsonBody,
  type OperationItem,
  type Paths,
  pathParameter,
  queryParameter,
  refusal,
  REFUSALS,
} from './path-item';
import { type SchemaName, schemaRef } from './schemas';

/**
 * The types that the four areas begin with, each with a body that can be sent as it is, one after the other:
 * a client, a user and a policy, then a document, a topic and a destination.
 */
export function tourPaths(): Paths {
  return {
    '/Client/{id}': { put: put('Tokens', 'Stores a client of the password grant', ['try-app', 'Client'], CLIENT) },
    '/User/{id}': { put: put('Tokens', 'Stores a user', ['doc-1', 'User'], USER) },
    '/AccessPolicy/{id}': { put: put('Tokens', 'Lets a user do everything', ['doc-1-policy', 'AccessPolicy'], POLICY) },
    '/Session': { get: sessions },
    '/fhir/Patient/{id}': {
      put: put('Resources', 'Stores the patient of the other examples', ['p7', 'Resource'], PATIENT),
    },
    '/SDCDocument/{id}': {
      put: put('RPC', 'Stores a document that addenda belong to', ['vitals-1', 'SDCDocument'], DOCUMENT),
    },
    '/SDCDocument': { post: createDraft },
    '/SDCWorkflow/{id}': {
      put: put('RPC', 'Stores a workflow that addenda belong to', ['rounds-1', 'Resource'], WORKFLOW),
    },
    '/fhir/SvcSubscriptionTopic/{id}': {
      put: put(
        'Topics',
        'Stores a topic: which changes are events',
        ['final-observations', 'SvcSubscriptionTopic'],
        TOPIC,
      ),
    },
    '/fhir/SearchParameter/{id}': {
      put: put('Resources', 'Makes patients searchable by an extension', ['patient-race', 'Resource'], RACE),
    },
    '/fhir/SvcTopicDestination': { post: createDestination },
    '/fhir/SvcTopicDestination/{id}': { put: changeDestination, delete: deleteDestination },
  };
}

const CLIENT = {
  secret: 'try-app-secret',
  grant_types: ['password', 'client_credentials'],
  auth: { password: { token_format: 'jwt', token_expiration: 3600, refresh_token: true, secret_required: true } },
};

const USER = { userName: 'doc-1', email: 'doc-1@clinic.example', password: 'a long password' };

const POLICY = { engine: 'allow', link: [{ resourceType: 'User', id: 'doc-1' }] };

const PATIENT = {
  resourceType: 'Patient',
  name: [{ family: 'Rivera', given: ['Ana'] }],
  gender: 'female',
  birthDate: '1986-03-14',
};

const DOCUMENT = {
  type: 'clinic.forms/VitalsDocument',
  status: 'completed',
  patient: { resourceType: 'Patient', id: 'p7' },
  author: { resourceType: 'User', id: 'doc-1' },
  '8310-5': { value: 37.2, unit: 'Cel' },
};

const DRAFT = { ...DOCUMENT, resourceType: 'SDCDocument', id: 'vitals-2', status: 'draft' };

const WORKFLOW = {
  resourceType: 'SDCWorkflow',
  workflow: 'clinic.workflows/Rounds',
  title: 'Morning rounds',
  status: 'completed',
  ctx: { patient: { resourceType: 'Patient', id: 'p7' }, user: { resourceType: 'User', id: 'doc-1' } },
};

const RACE = {
  resourceType: 'SearchParameter',
  url: 'https://clinic.example/SearchParameter/patient-race',
  name: 'race',
  status: 'active',
  description: 'The race of a patient, as an extension tells it',
  code: 'race',
  base: ['Patient'],
  type: 'token',
  expression: "Patient.extension.where(url = 'https://clinic.example/race').value",
};

const TOPIC = {
  url: 'https://clinic.example/topics/final-observations',
  status: 'active',
  trigger: [
    {
      resource: 'Observation',
      supportedInteraction: ['create', 'update'],
      fhirPathCriteria: "%current.status = 'final'",
    },
  ],
};

const DESTINATION = {
  resourceType: 'SvcTopicDestination',
  id: 'hook-1',
  meta: { profile: ['https://svc.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
  kind: 'webhook-at-least-once',
  topic: TOPIC.url,
  parameter: [
    { name: 'endpoint', valueUrl: 'http://127.0.0.1:9000/hook' },
    { name: 'timeout', valueUnsignedInt: 30 },
    { name: 'maxMessagesInBatch', valueUnsignedInt: 20 },
    { name: 'header', valueString: 'Authorization: Bearer shared-secret' },
  ],
};

const NOTIFICATION = {
  resourceType: 'Bundle',
  type: 'history',
  timestamp: '2026-01-31T10:00:00.250Z',
  entry: [
    {
      resource: {
        resourceType: 'SvcSubscriptionStatus',
        extension: [
          {
            url: 'http://profiles.example/StructureDefinition/delivery-generation',
            valueUuid: 'urn:uuid:53fefa32-fcbb-4ff8-8a92-55ee120877b7',
          },
        ],
        status: 'active',
        type: 'event-notification',
        notificationEvent: [{ eventNumber: 1, focus: { reference: 'Observation/o1' } }],
        topic: TOPIC.url,
        'topic-destination': { reference: 'SvcTopicDestination/hook-1' },
      },
    },
    {
      fullUrl: 'http://localhost:3000/fhir/Observation/o1',
      request: { method: 'PUT', url: '/fhir/Observation/o1' },
      resource: { resourceType: 'Observation', id: 'o1', status: 'final', code: { text: 'Body weight' } },
    },
  ],
};

/** Another endpoint, and the mask for what stays. */
const MOVED = {
  ...DESTINATION,
  parameter: [
    { name: 'endpoint', valueUrl: 'http://127.0.0.1:9000/new-hook' },
    { name: 'timeout', valueUnsignedInt: 30 },
    { name: 'maxMessagesInBatch', valueUnsignedInt: 20 },
    { name: 'header', valueString: 'Authorization: ***' },
  ],
};

const put = (
  tag: string,
  summary: string,
  [id, schema]: readonly [string, SchemaName],
  example: object,
): OperationItem => ({
  tags: [tag],
  summary,
  parameters: [pathParameter('id', id)],
  requestBody: jsonBody(example, schema),
  responses: {
    '200': answer('Replaced, or unchanged', schema),
    '201': answer('Created', schema),
    '422': refusal('The content breaks a rule'),
    ...REFUSALS,
  },
});

const sessions: OperationItem = {
  tags: ['Sessions'],
  summary: 'Lists Sessions',
  parameters: [queryParameter('user', 'A User', 'doc-1'), queryParameter('active', 'true or false', 'true')],
  responses: { '200': answer('Bundle of type searchset', 'Bundle'), ...REFUSALS },
};

const createDraft: OperationItem = {
  tags: ['RPC'],
  summary: 'Stores a draft, for the methods that save, sign and amend documents',
  requestBody: jsonBody(DRAFT, 'SDCDocument'),
  responses: {
    '201': answer('The stored draft', 'SDCDocument'),
    '409': refusal('The id is taken'),
    '422': refusal('The content breaks a rule'),
    ...REFUSALS,
  },
};

/** The request body of the endpoint. */
const notification: OperationItem = {
  summary: 'A notification',
  description:
    'Answer 2xx within the timeout, then work. Any other answer, or none, and the same bytes come again under the same webhook-id.',
  parameters: [
    headerParameter('webhook-id', 'The same for each attempt and replay of a notification, and for no other content'),
    headerParameter('webhook-timestamp', 'When this attempt was signed, in seconds; with a secret only'),
    headerParameter('webhook-signature', 'By Standard Webhooks (standardwebhooks.com); with a secret only'),
  ],
  requestBody: {
    content: { 'application/json': { schema: schemaRef('Bundle'), example: NOTIFICATION } },
  },
  responses: { '2XX': { description: 'Delivered' }, default: { description: 'Sent again, after a pause' } },
};

const createDestination: OperationItem = {
  tags: ['Topics'],
  summary: 'Stores a webhook: events of the topic are delivered to it from now on',
  description:
    'Each write that the topic matches becomes an event, in the transaction of the write, and is sent until the endpoint answers 2xx: at least once, in order, up to maxMessagesInBatch in one POST. ' +
    'The body is a Bundle of type history: a SvcSubscriptionStatus with the event numbers, then the changed resources. Answer first, work afterwards; drop what you know by webhook-id.',
  requestBody: jsonBody(DESTINATION, 'SvcTopicDestination'),
  callbacks: { notification: { '{$request.body#/parameter/0/valueUrl}': { post: notification } } },
  responses: {
    '201': answer('The stored destination; secrets are masked', 'SvcTopicDestination'),
    '409': refusal('The id is taken'),
    '422': refusal('The content breaks a rule'),
    ...REFUSALS,
  },
};

const changeDestination: OperationItem = {
  ...put('Topics', 'Changes a webhook; its queue stays', ['hook-1', 'SvcTopicDestination'], MOVED),
  description:
    'Endpoint, headers, secrets and timeout hold from the next attempt, which is made at once; the rest from the next batch. *** keeps the value that is stored.',
};

const deleteDestination: OperationItem = {
  tags: ['Topics'],
  summary: 'Ends a webhook, and drops the events that it did not get',
  parameters: [pathParameter('id', 'hook-1')],
  responses: {
    '200': answer('The deleted destination', 'SvcTopicDestination'),
    '204': { description: 'There was nothing to delete' },
    ...REFUSALS,
  },
};
