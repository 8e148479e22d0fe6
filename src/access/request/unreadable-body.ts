/**
 * Thrown to a policy that reads a body which is neither JSON nor YAML. The policy then grants nothing. If such a body
 * counted as missing, a policy that only excludes values would grant the request, and the route may still be able to
 * read the body.
 */
export class UnreadableBody extends Error {
  constructor() {
    super('A policy reads the body, which is neither JSON nor YAML.');
  }
}
