import examples from './examples.json';
import {
  answer,
  headerParameter,
  jsonBody,
  type OperationItem,
  pathParameter,
  type Paths,
  queryParameter,
  refusedWith,
} from './path-item';
import { schemaRef } from './schema';

/**
 * Paths of a tour through four areas, each with a body that can be sent unchanged, in this order: a client, a user and
 * a policy, then a document, a topic and a destination.
 */
export function tourPaths(): Paths {
  return {
    '/Client/{id}': {
      put: put('Tokens', 'Stores a client of the password grant', ['try-app', 'Client'], examples.client),
    },
    '/User/{id}': { put: put('Tokens', 'Stores a user', ['doc-1', 'User'], examples.user) },
    '/AccessPolicy/{id}': {
      put: put('Tokens', 'Lets a user do everything', ['doc-1-policy', 'AccessPolicy'], examples.accessPolicy),
    },
    '/Session': { get: sessions },
    '/fhir/Patient/{id}': {
      put: put('Operations', 'Stores the patient of the other examples', ['p7', 'Patient'], examples.newPatient),
    },
    '/SDCDocument/{id}': {
      put: put('RPC', 'Stores a document that addenda belong to', ['vitals-1', 'SDCDocument'], examples.document),
    },
    '/SDCDocument': { post: createDraft },
    '/SDCWorkflow/{id}': {
      put: put('RPC', 'Stores a workflow that addenda belong to', ['rounds-1', 'SDCWorkflow'], examples.workflow),
    },
    '/fhir/SvcSubscriptionTopic/{id}': {
      put: put(
        'Topics',
        'Stores a topic: which changes are events',
        ['final-observations', 'SvcSubscriptionTopic'],
        examples.topic,
      ),
    },
    '/fhir/SearchParameter/{id}': {
      put: put(
        'Operations',
        'Makes patients searchable by an extension',
        ['patient-race', 'SearchParameter'],
        examples.searchParameter,
      ),
    },
    '/fhir/SvcTopicDestination': { post: createDestination },
    '/fhir/SvcTopicDestination/{id}': { put: changeDestination, delete: deleteDestination },
  };
}

const put = (tag: string, summary: string, [id, schema]: [string, string], example: object): OperationItem => ({
  tags: [tag],
  summary,
  parameters: [pathParameter('id', id)],
  requestBody: jsonBody(example, schema),
  responses: {
    '200': answer('Replaced, or unchanged', schema),
    '201': answer('Created', schema),
    '422': refusedWith('The content breaks a rule'),
  },
});

const sessions: OperationItem = {
  tags: ['Sessions'],
  summary: 'Lists Sessions',
  parameters: [queryParameter('user', 'A User', 'doc-1'), queryParameter('active', 'true or false', 'true')],
  responses: { '200': answer('Bundle of type searchset', 'Bundle') },
};

const createDraft: OperationItem = {
  tags: ['RPC'],
  summary: 'Stores a draft, for the methods that save, sign and amend documents',
  requestBody: jsonBody(examples.draft, 'SDCDocument'),
  responses: {
    '201': answer('The stored draft', 'SDCDocument'),
    '409': refusedWith('The id is taken'),
    '422': refusedWith('The content breaks a rule'),
  },
};

/** The notification that the endpoint of a destination receives. */
const notification: OperationItem = {
  tags: ['Topics'],
  summary: 'A notification',
  description:
    'Answer 2xx within the timeout, then work. Any other answer, or none, and the same bytes come again under the same webhook-id.',
  parameters: [
    headerParameter('webhook-id', 'The same for each attempt and replay of a notification, and for no other content'),
    headerParameter('webhook-timestamp', 'When this attempt was signed, in seconds; with a secret only'),
    headerParameter('webhook-signature', 'By Standard Webhooks (standardwebhooks.com); with a secret only'),
  ],
  requestBody: {
    content: { 'application/json': { schema: schemaRef('Bundle'), example: examples.notification } },
  },
  responses: { '2XX': { description: 'Delivered' }, default: { description: 'Sent again, after a pause' } },
};

const createDestination: OperationItem = {
  tags: ['Topics'],
  summary: 'Stores a webhook: events of the topic are delivered to it from now on',
  description:
    'Each write that the topic matches becomes an event, in the transaction of the write, and is sent until the endpoint answers 2xx: at least once, in order, up to maxMessagesInBatch in one POST. ' +
    'The body is a Bundle of type history: a SvcSubscriptionStatus with the event numbers, then the changed resources. Answer first, work afterwards; drop a webhook-id that you already have.',
  requestBody: jsonBody(examples.destination, 'SvcTopicDestination'),
  callbacks: { notification: { '{$request.body#/parameter/0/valueUrl}': { post: notification } } },
  responses: {
    '201': answer('The stored destination; secrets are masked', 'SvcTopicDestination'),
    '409': refusedWith('The id is taken'),
    '422': refusedWith('The content breaks a rule'),
  },
};

const changeDestination: OperationItem = {
  ...put('Topics', 'Changes a webhook; its queue stays', ['hook-1', 'SvcTopicDestination'], examples.movedDestination),
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
  },
};
