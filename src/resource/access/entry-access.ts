import { DiscoveryService } from '@nestjs/core';
import { type NativeReference, type Resource } from '../../fhir/types';
import { type ServiceError } from '../../platform/errors/service-error';
import { type GrantedRows } from '../../platform/request/granted-rows';

/** A part of a larger request. Access to it is decided as if it were sent alone. */
export interface EntryAccessRequest {
  /** The operation id of the route for such a request, for example `FhirCreate`. */
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query below the root, such as `Patient/p7` or `Patient?identifier=1`. */
  readonly url: string;
  readonly type?: string;
  readonly id?: string;
  /** Parses the sent resource, if a policy needs it. */
  readonly resource: () => Resource | undefined;
  /** Whether the calling code enforces the granted rows. If not, a caller who is limited to some rows is refused. */
  readonly enforcesRows?: boolean;
  /** A call of an RPC method, with its params as values. */
  readonly rpc?: { readonly method: string; readonly params: unknown };
}

/** The read access of a user or client who did not send the present request. */
export interface Reader {
  /** The rows among which the reader may read this resource; undefined if access is denied. */
  rowsOf(resource: { readonly type: string; readonly id: string }): Promise<GrantedRows | undefined>;
  /** Like {@link EntryAccess.searchedRows}. */
  searchedRows(type: string): Promise<GrantedRows | undefined>;
}

/** Decides the access of the present request's caller. */
export interface EntryAccess {
  /**
   * Returns the resources that the part may access.
   * @throws ServiceError 'forbidden'
   */
  grant(request: EntryAccessRequest): Promise<GrantedRows>;

  /**
   * The rows that `GET /{type}` without parameters would be granted to the caller; undefined if it would be denied.
   * Every request that leads to another type uses this. Each type is decided once per request.
   */
  searchedRows(type: string): Promise<GrantedRows | undefined>;

  /** The error for a request that leads to types whose search is denied: it names the types and a decision. */
  refusalOfSearch(types: readonly string[]): Promise<ServiceError>;

  /**
   * The rows granted to the present request by policies that name its Operation or have no condition (`allow`): such
   * policies cover everything that the request leads to. Undefined if only other policies grant it.
   */
  openedRows(): Promise<GrantedRows | undefined>;

  /** Whether the part would be granted to the caller on all rows. Nothing is denied, so no decision is recorded. */
  wouldGrant(request: EntryAccessRequest): Promise<boolean>;

  /** The read access of a user or client; undefined if deleted or inactive, so that nothing may be read. */
  readerNamed(principal: NativeReference): Promise<Reader | undefined>;
}

/**
 * Registers the one {@link EntryAccess}: the access package, above this one, decides about rights. The name appears in
 * error messages.
 */
export const DecidesEntryAccess = DiscoveryService.createDecorator<string>();
