/** A comparison that would delay other requests. It has no result, so callers must not treat this as one. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
}
