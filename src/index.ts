/**
 * The public API of the package: all that a module of another team imports (docs/reference/public-api.md). Each export
 * keeps its meaning within a major version.
 */

// The server
export { createServer, runServer, type ServerOptions } from './server';
export { type RunningServer } from './boot';
export { Environment, EnvironmentError } from './platform/config/environment';

// Modules to import where their providers are injected
export { AuthModule } from './auth/auth.module';
export { ResourceModule } from './resource/resource.module';
export { SessionModule } from './session/session.module';

// RPC methods and operations
export { type RpcCall, type RpcHandler, RpcMethod, type RpcMethodDefinition } from './rpc/rpc-method';
export { RpcRefusal, type ParamError } from './rpc/rpc-refusal';
export {
  ANY_TYPE,
  type AnswerParts,
  Operation,
  type OperationDefinition,
  type OperationHandler,
  type OperationRequest,
} from './operation/operation';
export { type FhirAnswer } from './fhir/edge/fhir-answer';

// Resources
export {
  DefinesResourceType,
  type OwnResourceType,
  type OwnSearchParameter,
  type RefusedWrites,
  refusedToAll,
} from './model/resource-type';
export { type Resource } from './fhir/types';
export { ResourceDraft } from './model/resource-draft';
export { type ResourceText, type StoredResource, type StoredVersion } from './model/stored-resource';
export { viewOf } from './model/view-of';
export { ForResourceType, type ResourceRule } from './resource/hooks/resource-rule';
export {
  type Interaction,
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
  type ResourceContent,
} from './resource/hooks/resource-change';
export { ResourceReader, type VersionKey } from './store/resource-reader';
export { ResourceCriteria } from './search/run/resource-criteria';
export { GrantedReader } from './resource/rows/granted-reader';
export { ResourceWriter, type WriteOptions } from './resource/resource-writer';
export { type WriteResult } from './resource/writes/write';
export { UnitOfWork } from './platform/database/unit-of-work';

// Tables of a module's own
export { BringsMigrations, type MigrationsDefinition } from './platform/database/schema/brings-migrations';
export { type Migration } from './platform/database/migration';

// JSON that keeps its digits
export { JsonText } from './platform/json/json-text';
export { JsonParts } from './platform/json/json-parts';
export { readJson, type ScannedJson } from './platform/json/read-json';

// Access
export { EngineOf, type FailedClause, type PolicyCheck, type PolicyEngine } from './access/policy/policy-engine';
export { type AccessRequest } from './access/request/access-request';
export { type Caller } from './platform/request/caller';
export { CurrentCaller } from './platform/request/current-caller';
export { EnforcesRows, OperationId, PublicRoute, TokenIsEnough } from './platform/http/route-access';

// Grants
export { type Client } from './auth/client/client';
export { type Grant, GrantOf } from './auth/grants/grant';
export { type Account, CredentialGuard } from './auth/guessing/credential-guard';
export { OAuthError } from './auth/oauth/oauth-error';
export { type TokenRequest } from './auth/oauth/token-request';
export { TokenIssuer, type TokenResponse } from './auth/token/token-issuer';
export { TokenOwners } from './auth/token/token-owners';
export { Sessions } from './session/sessions';

// Destinations
export { DeliveryFailure } from './delivery/delivery-failure';
export {
  DeliverBy,
  type DeliveryKind,
  type DeliveryKindDefinition,
  type DeliverySettings,
  type DestinationParameter,
  type Finding,
  MASK,
  type Notification,
  type Outgoing,
} from './delivery/delivery-kind';

// Work in the background, time, metrics, errors
export { Background, type BackgroundDefinition, type BackgroundTask } from './platform/background/background';
export { Clock } from './platform/time/clock';
export { type MetricFamily, type Sample } from './platform/metrics/metric-family';
export { MetricsFrom, type MetricSource, type MetricSourceDefinition } from './platform/metrics/metric-source';
export { type ErrorCode } from './platform/errors/error-codes';
export { type ErrorKind } from './platform/errors/error-kind';
export { type ErrorDetails, type ErrorIssue, ServiceError } from './platform/errors/service-error';
