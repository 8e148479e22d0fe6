/** Values in the path of a request, by the names in the pattern of its route. */
export interface RouteValues {
  readonly type?: unknown;
  readonly id?: unknown;
  /**
   * In a compartment search, the type of the resource whose compartment is searched; `id` is then the id of that
   * resource.
   */
  readonly compartment?: unknown;
}

/** Names of the parameters that come from the route or from an RPC call. A query cannot set them. */
export const RESERVED_PARAMS: ReadonlySet<string> = new Set([
  'resource/type',
  'resource/id',
  'compartment/type',
  'compartment/id',
  '_m',
]);

export function routeParams({ type, id, compartment }: RouteValues): Record<string, unknown> {
  const named =
    compartment === undefined
      ? { 'resource/type': type, 'resource/id': id }
      : { 'resource/type': type, 'compartment/type': compartment, 'compartment/id': id };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}
