/** Values of a route, by the names in its pattern. */
export interface RouteValues {
  readonly type?: unknown;
  readonly id?: unknown;
  /** In a compartment search: the type of the compartment's resource, whose id is then `id`. */
  readonly compartment?: unknown;
}

/** Parameters with route values have reserved names, which a query cannot set. */
export const RESERVED_PARAMS: ReadonlySet<string> = new Set([
  'resource/type',
  'resource/id',
  'compartment/type',
  'compartment/id',
  '_m',
]);

/** The parameters that come from the route. */
export function routeParams({ type, id, compartment }: RouteValues): Record<string, unknown> {
  const named =
    compartment === undefined
      ? { 'resource/type': type, 'resource/id': id }
      : { 'resource/type': type, 'compartment/type': compartment, 'compartment/id': id };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}
