/**
 * Thrown when a comparison was stopped because it would delay other requests. Such a comparison has no result: callers
 * must not treat this error as "equal" or "different".
 */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
}
