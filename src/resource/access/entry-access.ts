import { DiscoveryService } from '@nestjs/core';
import { type NativeReference } from '../../fhir/types';
import { type ServiceError } from '../../platform/errors/service-error';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { type ResourceName } from '../../model/stored-resource';

/** A part of a larger request, such as an entry of a Bundle. Access is decided as if it were sent alone. */
export interface EntryAccessRequest {
  /** The operation id of the route to which the part would be sent alone, for example `FhirCreate`. */
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query below the root, such as `Patient/p7` or `Patient?identifier=1`. */
  readonly url: string;
  readonly type?: string;
  readonly id?: string;
  /**
   * Parses the body that the part would have if it were sent alone; undefined if it would have none. It is called only
   * if a policy needs the body.
   */
  readonly body: () => unknown;
  /** Whether the calling code enforces the granted rows. If not, a caller who may access only some rows is refused. */
  readonly enforcesRows?: boolean;
  /** Set for a call of an RPC method: the method, and its params as values. */
  readonly rpc?: { readonly method: string; readonly params: unknown };
}

/** A caller who may create any policy can get each right of the server. */
export const POLICY_CREATION: EntryAccessRequest = {
  operationId: 'FhirCreate',
  method: 'POST',
  url: 'AccessPolicy',
  type: 'AccessPolicy',
  body: () => ({ resourceType: 'AccessPolicy', engine: 'allow' }),
};

/**
 * The operation ids of the writes of one resource, by method: by id (a create without a condition), and by criteria.
 * Policies link to these ids.
 */
export const WRITE_IDS = {
  POST: ['FhirCreate', 'FhirConditionalCreate'],
  PUT: ['FhirUpdate', 'FhirConditionalUpdate'],
  PATCH: ['FhirPatch', 'FhirConditionalPatch'],
  DELETE: ['FhirDelete', 'FhirConditionalDelete'],
} as const;

export const readOf = ({ type, id }: ResourceName): EntryAccessRequest => ({
  operationId: 'FhirRead',
  method: 'GET',
  url: `${type}/${id}`,
  type,
  id,
  body: () => undefined,
});

/** The read access of a user or client who did not send the present request. */
export interface Reader {
  /** The rows among which this reader may read the resource; undefined if access is denied. */
  rowsOf(resource: ResourceName): Promise<GrantedRows | undefined>;
  /** Like {@link EntryAccess.searchedRows}. */
  searchedRows(type: string): Promise<GrantedRows | undefined>;
}

/** Decides what the caller of the present request may access. */
export interface EntryAccess {
  /**
   * Returns the resources that the caller may access by this part of the request.
   * @throws ServiceError 'forbidden'
   */
  grant(request: EntryAccessRequest): Promise<GrantedRows>;

  /**
   * The rows that `GET /{type}` without parameters would be granted to the caller; undefined if it would be denied. A
   * request that returns or searches resources of other types (by a compartment, an include or a chain) reads these
   * rows for each of those types. Each type is decided once per request.
   */
  searchedRows(type: string): Promise<GrantedRows | undefined>;

  /**
   * The error for a request that needs a search of types that the caller may not search. It names these types and the
   * id of the stored denial.
   */
  refusalOfSearch(types: readonly string[]): Promise<ServiceError>;

  /**
   * The rows granted to the present request by policies that name its Operation or have no condition (`allow`). Such
   * policies also cover resources of other types that the request returns or searches. Undefined if the request is
   * granted only by other policies.
   */
  openedRows(): Promise<GrantedRows | undefined>;

  /**
   * The rows that the policies would grant to the caller for this part of a request; undefined if they would deny it.
   * The call only asks, so no denial is recorded.
   */
  rowsOf(request: EntryAccessRequest): Promise<GrantedRows | undefined>;

  /**
   * Checks that the caller may change the meaning of search parameters. Criteria of policies decide by them which rows
   * are granted, so such a change needs the right to create policies.
   * @throws ServiceError 'forbidden'
   */
  assertMayRedefine(parameters: readonly { readonly type: string; readonly code: string }[]): Promise<void>;

  /**
   * The read access of a user or client. Undefined if the user or client is deleted or inactive, and so may read
   * nothing.
   */
  readerNamed(principal: NativeReference): Promise<Reader | undefined>;
}

/**
 * Decorator that registers the one {@link EntryAccess}. The access package, which is above this one, decides about
 * rights. Its argument is the name that error messages show.
 */
export const DecidesEntryAccess = DiscoveryService.createDecorator<string>();
