import { greatCircleMeters, type Position } from '../../search/query/great-circle';
import { type SearchClause } from '../../search/query/search-query';

/** Extension of `Bundle.entry.search` that holds the distance between a Location and the searched place. */
const URL = 'http://hl7.org/fhir/StructureDefinition/location-distance';

/**
 * Returns further JSON members for the `search` of an entry, or an empty text. Its argument is the text of the
 * resource.
 */
export type SearchExtension = (text: string) => string;

/**
 * Makes the extension with the distance to the nearest searched place; undefined for a search without a place
 * (http://hl7.org/fhir/R4/extension-location-distance.html).
 */
export function locationDistance(clauses: readonly SearchClause[]): SearchExtension | undefined {
  const places = clauses.flatMap((clause) => (clause.kind === 'near' ? clause.places : []));
  if (places.length === 0) return undefined;
  return (text) => {
    const position = pointOf(text);
    if (position === undefined) return '';
    const meters = Math.min(...places.map((place) => greatCircleMeters(place, position)));
    const value = Number((meters / 1000).toFixed(3));
    const distance = { value, unit: 'km', system: 'http://unitsofmeasure.org', code: 'km' };
    return `"extension":${JSON.stringify([{ url: URL, valueDistance: distance }])},`;
  };
}

function pointOf(text: string): Position | undefined {
  const { position } = JSON.parse(text) as { readonly position?: Partial<Position> };
  if (typeof position?.latitude !== 'number' || typeof position.longitude !== 'number') return undefined;
  return { latitude: position.latitude, longitude: position.longitude };
}
