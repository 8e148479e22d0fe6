/** Values of a route, by the names that its pattern gives them. */
export interface RouteValues {
  readonly type?: unknown;
  readonly id?: unknown;
  /** Of a search in a compartment: the type of its resource, whose id is then `id`. */
  readonly compartment?: unknown;
}

/** Route values have names of their own among the parameters, which no query can take. */
export const RESERVED_PARAMS: ReadonlySet<string> = new Set([
  'resource/type',
  'resource/id',
  'compartment/type',
  'compartment/id',
  '_m',
]);

/** What of a route stands among the parameters. */
export function routeParams({ type, id, compartment }: RouteValues): Record<string, unknown> {
  const named =
    compartment === undefined
      ? { 'resource/type': type, 'resource/id': id }
      : { 'resource/type': type, 'compartment/type': compartment, 'compartment/id': id };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}
