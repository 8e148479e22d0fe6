import { isObject, type PlainObject } from '../../platform/json/plain-object';
import { type PlacedResource } from './placed-resource';

/** An extension of a resource, at any depth. */
export interface PlacedExtension {
  readonly place: PlacedResource;
  readonly url: string;
  readonly extension: PlainObject;
  readonly path: readonly (string | number)[];
}

/**
 * The extensions of a resource that have one of the urls. An extension of a nested resource belongs to that resource,
 * and is left out. The walk is a loop and does not recurse.
 */
export function extensionsIn(place: PlacedResource, urls: ReadonlySet<string>): readonly PlacedExtension[] {
  const found: PlacedExtension[] = [];
  const pending: { value: unknown; path: PlacedResource['path'] }[] = [{ value: place.resource, path: place.path }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, path } = next;
    if (Array.isArray(value)) {
      for (const [index, item] of (value as readonly unknown[]).entries())
        if (typeof item === 'object') pending.push({ value: item, path: [...path, index] });
      continue;
    }
    if (!isObject(value) || (value !== place.resource && typeof value.resourceType === 'string')) continue;
    const name = path.at(-2);
    if ((name === 'extension' || name === 'modifierExtension') && typeof value.url === 'string' && urls.has(value.url))
      found.push({ place, url: value.url, extension: value, path });
    // In JSON, the extensions of a primitive are in a sibling member. In FHIRPath, they are below the name of the
    // primitive.
    for (const [key, member] of Object.entries(value))
      if (typeof member === 'object') pending.push({ value: member, path: [...path, key.replace(/^_/, '')] });
  }
  return found.reverse();
}
