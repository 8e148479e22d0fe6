import { DiscoveryService } from '@nestjs/core';
import { type OwnShapes } from '../fhir/definitions/element-tables';

/** A search parameter of a type that HL7 does not define; `expression` is a FHIRPath as in a SearchParameter. */
export interface OwnSearchParameter {
  readonly code: string;
  readonly kind: 'token' | 'reference' | 'date' | 'uri';
  readonly expression: string;
  readonly targets?: readonly string[];
}

/** A patch is an update, and so is a PUT that creates. */
export type WriteKind = 'create' | 'update' | 'delete' | 'conditional-delete';

export interface WriteRefusal {
  /** Says what to do instead. */
  readonly message: string;
  /** 405 where absent. */
  readonly kind?: 'unprocessable';
}

export type RefusedWrites = Readonly<Partial<Record<WriteKind, WriteRefusal>>>;

/** For a type that its module alone writes. */
export const refusedToAll = (message: string): RefusedWrites => ({
  create: { message },
  update: { message },
  delete: { message },
  'conditional-delete': { message },
});

/** A resource type that a module brings; or one of R4 that it alone writes, without a shape or parameters. */
export interface OwnResourceType {
  readonly type: string;
  /**
   * The content of its resources, in the notation of src/fhir/definitions/elements.json: the type and its nested elements, which
   * are named by their path. Resources are then validated as strictly as those of R4; without a shape their content is open.
   */
  readonly shape?: OwnShapes;
  readonly searchParameters?: readonly OwnSearchParameter[];
  /**
   * True where the type is of the native style: it refers by `{resourceType, id}`, and `meta.createdAt` tells when a resource was
   * created. Else it is of FHIR's style: it refers by `{reference}`, and an extension of `meta` tells it.
   */
  readonly isNative?: boolean;
  /** Writes that callers are refused, with the refusal of each; the module itself may write the type. */
  readonly refusedWrites?: RefusedWrites;
  /**
   * True where the type is never stored, and known by its shape alone: it stands inside of what this server sends. It can be
   * validated; there are no routes of it, no search, and no line in `/metadata`.
   */
  readonly isSentOnly?: boolean;
}

/** Registers a resource type of a module: the class carries it and needs no members. */
export const DefinesResourceType = DiscoveryService.createDecorator<OwnResourceType>();
