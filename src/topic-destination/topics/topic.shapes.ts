import { type OwnShapes } from '../../fhir/definitions/element-tables';

/** Elements of a SvcSubscriptionTopic: those that the server reads, and the usual metadata of definitions of FHIR. */
export const SUBSCRIPTION_TOPIC_SHAPE: OwnShapes = {
  SvcSubscriptionTopic: {
    url: '1..1 uri',
    identifier: '0..* Identifier',
    version: '0..1 string',
    'versionAlgorithm[x]': '0..1 string|Coding',
    name: '0..1 string',
    title: '0..1 string',
    derivedFrom: '0..* canonical',
    status: '1..1 code',
    experimental: '0..1 boolean',
    date: '0..1 dateTime',
    publisher: '0..1 string',
    contact: '0..* ContactDetail',
    description: '0..1 markdown',
    useContext: '0..* UsageContext',
    jurisdiction: '0..* CodeableConcept',
    purpose: '0..1 markdown',
    copyright: '0..1 markdown',
    copyrightLabel: '0..1 string',
    approvalDate: '0..1 date',
    lastReviewDate: '0..1 date',
    effectivePeriod: '0..1 Period',
    trigger: '0..* SvcSubscriptionTopic.trigger',
  },
  'SvcSubscriptionTopic.trigger': {
    description: '0..1 markdown',
    resource: '1..1 uri',
    supportedInteraction: '0..* code',
    fhirPathCriteria: '0..1 Any',
    canFilterBy: '0..* SvcSubscriptionTopic.trigger.canFilterBy',
    event: '0..* Any',
    queryCriteria: '0..1 Any',
    notificationShape: '0..* Any',
  },
  'SvcSubscriptionTopic.trigger.canFilterBy': {
    description: '0..1 markdown',
    filterParameter: '1..1 string',
    comparator: '1..* code',
    filterDefinitionFhirPathExpression: '1..1 string',
  },
};

/** Elements of a SvcTopicDestination. Its kind defines which parameters it has. */
export const TOPIC_DESTINATION_SHAPE: OwnShapes = {
  SvcTopicDestination: {
    status: '0..1 code',
    kind: '1..1 code',
    topic: '1..1 canonical',
    content: '0..1 code',
    includeEntryAction: '0..1 boolean',
    includeVersionId: '0..1 boolean',
    includeVersionIdInFocusReference: '0..1 boolean',
    enableLogging: '0..1 boolean',
    logLevel: '0..1 code',
    principal: '0..1 NativeReference(User)',
    filterBy: '0..* SvcTopicDestination.filterBy',
    parameter: '0..* SvcTopicDestination.parameter',
  },
  'SvcTopicDestination.filterBy': { filterParameter: '1..1 string', comparator: '0..1 code', value: '0..1 string' },
  'SvcTopicDestination.parameter': {
    name: '1..1 string',
    'value[x]': '0..1 url|uri|string|code|boolean|integer|unsignedInt|positiveInt|decimal',
  },
};

/** The first entry of a notification. Event numbers may exceed the 31 bits of R4's integers, so they are decimals. */
export const SUBSCRIPTION_STATUS_SHAPE: OwnShapes = {
  SvcSubscriptionStatus: {
    status: '0..1 code',
    type: '1..1 code',
    eventsSinceSubscriptionStart: '0..1 decimal',
    notificationEvent: '0..* SvcSubscriptionStatus.notificationEvent',
    topic: '0..1 canonical',
    'topic-destination': '1..1 Reference(SvcTopicDestination)',
    error: '0..* CodeableConcept',
  },
  'SvcSubscriptionStatus.notificationEvent': {
    eventNumber: '1..1 decimal',
    timestamp: '0..1 instant',
    focus: '0..1 Reference',
    additionalContext: '0..* Reference',
    correlationId: '0..1 string',
  },
};
