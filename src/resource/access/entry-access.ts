import { DiscoveryService } from '@nestjs/core';
import { type NativeReference, type Resource } from '../../fhir/types';
import { type ServiceError } from '../../platform/errors/service-error';
import { type GrantedRows } from '../../platform/request/granted-rows';

/** A part of a larger request, as the access of its caller is decided: as if it were a request of its own. */
export interface EntryAccessRequest {
  /** The name of the route that the part alone would have; for example `FhirCreate`. */
  readonly operationId: string;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query below the root, such as `Patient/p7` or `Patient?identifier=1`. */
  readonly url: string;
  readonly type?: string;
  readonly id?: string;
  /** Parses what the caller sent, when a policy looks at it. */
  readonly resource: () => Resource | undefined;
  /** Whether whoever asks keeps to the rows that are granted; else a caller who is limited to some is refused. */
  readonly enforcesRows?: boolean;
  /** A call of an RPC method, with its params as values. */
  readonly rpc?: { readonly method: string; readonly params: unknown };
}

/** Somebody who does not call now, and what he might read if he did. */
export interface Reader {
  /** Tells whether he might read a resource, and among which rows; undefined: not. */
  rowsOf(resource: { readonly type: string; readonly id: string }): Promise<GrantedRows | undefined>;
  /** As {@link EntryAccess.searchedRows}. */
  searchedRows(type: string): Promise<GrantedRows | undefined>;
}

/** Decides what the caller of the present request may do. */
export interface EntryAccess {
  /**
   * Tells which resources the part may touch.
   * @throws ServiceError 'forbidden'
   */
  grant(request: EntryAccessRequest): Promise<GrantedRows>;

  /**
   * The rows that `GET /{type}` without parameters would be granted to the caller of the present request; undefined where it
   * would be denied. Whatever leads a request to another type asks here; a type is decided once for a request.
   */
  searchedRows(type: string): Promise<GrantedRows | undefined>;

  /** The refusal of a request that leads to types whose search would be denied: it names them, and a decision. */
  refusalOfSearch(types: readonly string[]): Promise<ServiceError>;

  /**
   * The rows granted to the present request by policies that name its Operation, or ask for nothing (`allow`): their author
   * meant all that the request leads to. Undefined where only other policies grant it.
   */
  openedRows(): Promise<GrantedRows | undefined>;

  /** Whether the part would be granted to the caller of the present request, on all rows. Nothing is denied, so nothing is noted. */
  wouldGrant(request: EntryAccessRequest): Promise<boolean>;

  /** Somebody who does not call now; undefined for who is deleted or inactive, and may read nothing. */
  readerNamed(principal: NativeReference): Promise<Reader | undefined>;
}

/** Registers the one {@link EntryAccess}: rights are another floor's business. Its name is for error messages. */
export const DecidesEntryAccess = DiscoveryService.createDecorator<string>();
