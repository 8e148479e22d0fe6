/** A comparison that would delay other requests. Callers must not take it for an answer. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
}
