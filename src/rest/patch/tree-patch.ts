import { ServiceError } from '../../platform/errors/service-error';
import { type JsonValue } from '../../platform/json/lossless';
import { type Steps } from '../../platform/time/steps';

/**
 * Changes a tree and returns it, or another one in its place. The tree is lost when it throws; nothing of the patch becomes
 * part of a tree that a later step could change, so that a patch can be applied again.
 */
export type TreePatch = (tree: JsonValue) => Steps<JsonValue>;

/** The patch itself is malformed (RFC 5789, section 2.2: 400). */
export const malformed = (message: string): ServiceError => new ServiceError('invalid', message);

/** The patch does not fit what is stored (RFC 5789, section 2.2: 422). */
export const unfit = (message: string): ServiceError => new ServiceError('unprocessable', message);

/** A place as it may stand in a message: what the caller sent, but not endlessly. */
export const excerpt = (place: string): string => (place.length > 200 ? `${place.slice(0, 200)}…` : place);
