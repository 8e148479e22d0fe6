import { DiscoveryService } from '@nestjs/core';
import { type OwnShapes } from '../fhir/definitions/element-tables';
import { type Members } from '../platform/discovery/definition';

/** A search parameter of a type that HL7 does not define. `expression` is FHIRPath, as in a SearchParameter. */
export interface OwnSearchParameter {
  readonly code: string;
  readonly kind: 'token' | 'reference' | 'date' | 'uri' | 'string' | 'number' | 'quantity';
  readonly expression: string;
  readonly targets?: readonly string[];
}

/** The kind of a write. A patch is an update, and so is a PUT that creates. */
export type WriteKind = 'create' | 'update' | 'delete' | 'conditional-delete';

export interface WriteRefusal {
  /** Message of the error, which says what the caller should do instead. */
  readonly message: string;
  /** Kind of the error; absent means 405. */
  readonly kind?: 'unprocessable';
}

/** The writes that callers may not do, each with the error for it. */
export type RefusedWrites = Readonly<Partial<Record<WriteKind, WriteRefusal>>>;

/**
 * Refuses all writes of callers, for a type that only its module writes.
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

/**
 * A resource type that a module registers. It may also be a type of R4 whose writes the module restricts; it then has
 * no shape and no parameters here.
 */
export interface OwnResourceType {
  readonly type: string;
  /**
   * The elements of its resources, in the notation of src/fhir/definitions/elements.json: those of the type and of its
   * nested elements, which are named by path. With a shape, resources are validated as strictly as those of R4; without
   * one, any content is allowed.
   */
  readonly shape?: OwnShapes;
  readonly searchParameters?: readonly OwnSearchParameter[];
  /**
   * Whether the type is native. In a native type, references are `{resourceType, id}`, and `meta.createdAt` holds the
   * creation time. Other types use FHIR's style: references are `{reference}`, and the creation time is an extension of
   * `meta`.
   */
  readonly isNative?: boolean;
  /** The writes that are refused to callers, with their errors. The module itself may still write the type. */
  readonly refusedWrites?: RefusedWrites;
  /**
   * Whether the type is never stored, but only part of messages that this server sends. Such a type can be validated,
   * but has no routes, no search, and no entry in `/metadata`.
   */
  readonly isSentOnly?: boolean;
}

const REFUSAL = { members: { message: 'string', 'kind?': { oneOf: ['unprocessable'] } } } as const;

export const RESOURCE_TYPE: Members<OwnResourceType> = {
  type: 'string',
  'shape?': 'object',
  'searchParameters?': {
    each: {
      members: {
        code: 'string',
        kind: { oneOf: ['token', 'reference', 'date', 'uri', 'string', 'number', 'quantity'] },
        expression: 'string',
        'targets?': { each: 'string' },
      } satisfies Members<OwnSearchParameter>,
    },
  },
  'isNative?': 'boolean',
  'refusedWrites?': {
    members: {
      'create?': REFUSAL,
      'update?': REFUSAL,
      'delete?': REFUSAL,
      'conditional-delete?': REFUSAL,
    } satisfies Members<RefusedWrites>,
  },
  'isSentOnly?': 'boolean',
};

/**
 * Decorator that registers a resource type of a module. The decorated class needs no members.
 * @example
 * &#64;DefinesResourceType({
 *   type: 'Ward',
 *   searchParameters: [{ code: 'site', kind: 'token', expression: 'Ward.site' }],
 * })
 * export class WardType {}
 */
export const DefinesResourceType = DiscoveryService.createDecorator<OwnResourceType>();
