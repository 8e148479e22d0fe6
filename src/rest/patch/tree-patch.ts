import { ServiceError } from '../../platform/errors/service-error';
import { type JsonValue } from '../../platform/json/lossless';
import { type Steps } from '../../platform/time/steps';

/**
 * A compiled patch. It changes a tree and returns it, or returns a replacement. After an exception the tree is
 * unusable. A patch can be applied again, since its own objects never get into a tree where later steps could change
 * them.
 */
export type TreePatch = (tree: JsonValue) => Steps<JsonValue>;

/** The error for a patch that is malformed (RFC 5789, section 2.2: 400). */
export const malformed = (message: string): ServiceError => new ServiceError('patch-malformed', message);

/** The error for a patch that does not apply to the stored resource (RFC 5789, section 2.2: 422). */
export const unfit = (message: string): ServiceError => new ServiceError('patch-not-applicable', message);

/** The beginning of a path as sent, for an error message. */
export const excerpt = (place: string): string => (place.length > 200 ? `${place.slice(0, 200)}…` : place);
