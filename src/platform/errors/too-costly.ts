/** A comparison that would hold everybody else up; whoever asked for it must not take that for an answer. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
}
