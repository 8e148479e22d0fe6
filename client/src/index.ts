export { Access, type Decision, type PolicyTrial, type RequestTrial, type TriedPolicy } from './access.js';
export {
  Addenda,
  type AmendmentsLink,
  document,
  isAmendment,
  isComment,
  isHistory,
  isNote,
  user,
  workflow,
} from './addenda.js';
export { type BundleEntry, type Explained, SvcClient } from './client.js';
export type { Call, Options } from './connection.js';
export {
  type Destination,
  type DestinationEvent,
  type DestinationOverview,
  Destinations,
  type DestinationStatus,
  type EventRequest,
  type ReplayPreview,
} from './destinations.js';
export { SvcError } from './errors.js';
export {
  type Received,
  type ReceiverOptions,
  type SeenEvents,
  type SentNotification,
  SignatureError,
  type WebhookEvent,
  WebhookReceiver,
} from './receiver.js';
export { type RequestCounts, Server, type ServerStatus } from './server.js';
export { Sessions } from './sessions.js';
export type { Login } from './tokens.js';
export { type DryRun, type DryRunOptions, type DryRunVersion, type Topic, Topics, type UnmetReason } from './topics.js';
export type {
  Fetch,
  Query,
  Reference,
  Resource,
  ResourceOf,
  ResourceType,
  RpcMethod,
  RpcParams,
  RpcResult,
  Schemas,
} from './types.js';
