import { type Schema } from './schema';

/** Descriptions of members of this server's own types; their definitions hold none. */
export const OWN_MEMBERS: Readonly<Record<string, Readonly<Record<string, Schema>>>> = {
  Client: { secret: { description: 'Shown as ***; sent back so, it is kept.' } },
  User: { password: { description: 'Shown as ***; sent back so, it is kept.' } },
  SDCDocument: {
    status: { type: 'string' },
    type: { type: 'string' },
    patient: { $ref: '#/components/schemas/NativeReference' },
    encounter: { $ref: '#/components/schemas/NativeReference' },
    author: { $ref: '#/components/schemas/NativeReference' },
  },
  SDCWorkflow: {
    status: { type: 'string' },
    workflow: { type: 'string' },
    patient: { $ref: '#/components/schemas/NativeReference' },
  },
  SvcSubscriptionTopic: {
    url: { description: 'The canonical that destinations name, as url or url|version' },
    status: { enum: ['draft', 'active', 'retired', 'unknown'], description: 'Only active fires' },
    trigger: { description: 'A write is an event when one of the triggers matches it' },
  },
  'SvcSubscriptionTopic.trigger': {
    resource: { description: 'A resource type, or the URL of its StructureDefinition' },
    supportedInteraction: {
      items: { type: 'string', enum: ['create', 'update', 'delete'] },
      description: 'All three when left out; a patch is an update',
    },
    fhirPathCriteria: {
      type: 'string',
      description: 'FHIRPath that must yield true, with %current and %previous; every write when left out',
    },
  },
  SvcTopicDestination: {
    kind: { example: 'webhook-at-least-once', description: 'meta.profile must name its profile' },
    topic: { description: 'The url of a SvcSubscriptionTopic; it may be stored later' },
    content: {
      enum: ['full-resource', 'id-only', 'empty'],
      description: 'The part of a changed resource to send: all of it (the default), its URL, or nothing',
    },
    includeEntryAction: { description: 'Adds create, update or delete to each entry, in an extension' },
    includeVersionId: { description: 'Adds the version to each entry, in an extension' },
    includeVersionIdInFocusReference: { description: 'Makes the focus Type/id/_history/version' },
    enableLogging: { description: 'Writes each attempt to the log of the server' },
    logLevel: { enum: ['error', 'warn', 'info', 'debug', 'trace'], description: 'info when left out' },
    parameter: {
      description:
        'endpoint (valueUrl, required), timeout (valueUnsignedInt, seconds, 30), keepAlive (valueInteger, seconds, 120; -1: none), maxMessagesInBatch (valueUnsignedInt, 20), header (valueString, "Name: value", repeats), secret (valueString, base64, signs as Standard Webhooks; twice while it changes). A secret is read as ***, and so are the values of headers by callers who may not update the destination.',
    },
  },
};
