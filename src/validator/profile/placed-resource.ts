import { parseReference } from '../../fhir/reference';
import { isObject, type PlainObject } from '../../platform/json/plain-object';
import { textOrNone } from './stored-profile';

/** A resource with its place, since profiles also apply to contained resources and to entries of a stored Bundle. */
export interface PlacedResource {
  readonly resource: PlainObject;
  /** Path from the outermost resource: `['Bundle', 'entry', 0, 'resource']`. */
  readonly path: readonly (string | number)[];
  /** The resource that `#` means: this resource itself, or its container. */
  readonly container: PlainObject;
  /** The other entries of the Bundle around the resource, by the URLs that references use. */
  readonly neighbours: ReadonlyMap<string, PlainObject>;
  /** URL of the resource in its Bundle. Relative references start from it. */
  readonly fullUrl: string | undefined;
}

const NONE: ReadonlyMap<string, PlainObject> = new Map();

/** The place of a resource that is in no other. */
export function placeByItself(resource: PlainObject): PlacedResource {
  const path = [String(resource.resourceType)];
  return { resource, path, container: resource, neighbours: NONE, fullUrl: undefined };
}

/** The resource and all resources in it (contained, entries of Bundles and Parameters), each after its container. */
export const placesIn = (resource: PlainObject): readonly PlacedResource[] => placesFrom(placeByItself(resource));

/** Like {@link placesIn}, for a resource inside another one. */
export function placesFrom(place: PlacedResource): readonly PlacedResource[] {
  const places = [place];
  // The loop appends to the list over which it iterates.
  for (const one of places) places.push(...placesBelow(one));
  return places;
}

/**
 * Finds the target of a reference in the resource, its container and its Bundle. If it is not there, only the type is
 * returned, as far as it is known.
 */
export function resolveFrom(
  { container, neighbours, fullUrl }: PlacedResource,
  reference: unknown,
): { readonly type?: string; readonly resource?: PlainObject } {
  if (!isObject(reference)) return {};
  const { reference: text, type } = reference;
  const named = typeof type === 'string' ? { type } : {};
  if (typeof text !== 'string') return named;
  const target = parseReference(text, '');
  if (target?.kind === 'contained') {
    const contained = Array.isArray(container.contained) ? (container.contained as readonly unknown[]) : [];
    return found(text === '#' ? container : contained.find((one) => isObject(one) && one.id === target.id)) ?? named;
  }
  const base = fullUrl?.replace(/(?<![A-Za-z])[A-Z][A-Za-z]*\/[^/]+$/, '');
  const neighbour = neighbours.get(target?.kind === 'local' ? `${base ?? ''}${target.key}` : (target?.key ?? text));
  const typed = target !== undefined && 'type' in target ? { type: target.type } : named;
  return found(neighbour) ?? typed;
}

function found(resource: unknown): { readonly type: string; readonly resource: PlainObject } | undefined {
  return isObject(resource) && typeof resource.resourceType === 'string'
    ? { type: resource.resourceType, resource }
    : undefined;
}

function placesBelow(place: PlacedResource): readonly PlacedResource[] {
  const { resource, path } = place;
  const contained = indexedObjectsIn(resource.contained).map(({ item, index }) => ({
    ...place,
    resource: item,
    path: [...path, 'contained', index],
  }));
  if (resource.resourceType === 'Bundle') return [...contained, ...placesOfEntries(place)];
  return resource.resourceType === 'Parameters' ? [...contained, ...placesOfParameters(place)] : contained;
}

function placesOfEntries({ resource: bundle, path }: PlacedResource): readonly PlacedResource[] {
  const entries = indexedObjectsIn(bundle.entry).flatMap(({ item: { fullUrl, resource }, index }) =>
    !isObject(resource)
      ? []
      : [{ fullUrl: textOrNone(fullUrl), resource, path: [...path, 'entry', index, 'resource'] }],
  );
  const neighbours = new Map(
    entries.flatMap(({ fullUrl, resource }) => (fullUrl === undefined ? [] : [[fullUrl, resource] as const])),
  );
  return entries.map((entry) => ({ ...entry, container: entry.resource, neighbours }));
}

function placesOfParameters({ resource, path }: PlacedResource): readonly PlacedResource[] {
  const places: PlacedResource[] = [];
  const pending = [{ list: resource.parameter, at: [...path, 'parameter'] }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const { item, index } of indexedObjectsIn(next.list)) {
      const at = [...next.at, index];
      if (item.part !== undefined) pending.push({ list: item.part, at: [...at, 'part'] });
      if (isObject(item.resource)) places.push({ ...placeByItself(item.resource), path: [...at, 'resource'] });
    }
  }
  return places;
}

function indexedObjectsIn(list: unknown): readonly { readonly item: PlainObject; readonly index: number }[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown, index) => (isObject(item) ? [{ item, index }] : []));
}
