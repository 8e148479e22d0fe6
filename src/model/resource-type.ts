import { DiscoveryService } from '@nestjs/core';
import { type OwnShapes } from '../fhir/definitions/element-tables';

/** A search parameter of a type that HL7 does not define; `expression` is FHIRPath as in a SearchParameter. */
export interface OwnSearchParameter {
  readonly code: string;
  readonly kind: 'token' | 'reference' | 'date' | 'uri';
  readonly expression: string;
  readonly targets?: readonly string[];
}

/** A patch is an update; so is a PUT that creates. */
export type WriteKind = 'create' | 'update' | 'delete' | 'conditional-delete';

export interface WriteRefusal {
  /** Tells the caller what to do instead. */
  readonly message: string;
  /** Absent: 405. */
  readonly kind?: 'unprocessable';
}

/** Writes that callers may not do, each with its error. */
export type RefusedWrites = Readonly<Partial<Record<WriteKind, WriteRefusal>>>;

/**
 * For a type that only its module writes.
 * @example
 * &#64;DefinesResourceType({ type: 'HandOver', refusedWrites: refusedToAll('Call acme.ward/hand-over by POST /rpc.') })
 * export class HandOverType {}
 */
export const refusedToAll = (message: string): RefusedWrites => ({
  create: { message },
  update: { message },
  delete: { message },
  'conditional-delete': { message },
});

/** A resource type that a module registers; or one of R4 that only the module writes, without shape or parameters. */
export interface OwnResourceType {
  readonly type: string;
  /**
   * The content of its resources, in the notation of src/fhir/definitions/elements.json: the type and its nested
   * elements, named by path. Resources are then validated as strictly as those of R4; without a shape, any content is
   * allowed.
   */
  readonly shape?: OwnShapes;
  readonly searchParameters?: readonly OwnSearchParameter[];
  /**
   * True for a native type: its references are `{resourceType, id}`, and `meta.createdAt` holds the creation time.
   * Other types use FHIR's style: `{reference}`, and an extension of `meta`.
   */
  readonly isNative?: boolean;
  /** Writes that are refused to callers, with their errors; the module itself may write the type. */
  readonly refusedWrites?: RefusedWrites;
  /**
   * True for a type that is never stored but part of messages that this server sends. It can be validated, but has no
   * routes, no search, and no entry in `/metadata`.
   */
  readonly isSentOnly?: boolean;
}

/**
 * Registers a resource type of a module; the decorated class needs no members.
 * @example
 * &#64;DefinesResourceType({
 *   type: 'Ward',
 *   searchParameters: [{ code: 'site', kind: 'token', expression: 'Ward.site' }],
 * })
 * export class WardType {}
 */
export const DefinesResourceType = DiscoveryService.createDecorator<OwnResourceType>();
