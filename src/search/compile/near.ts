import { LATITUDE, LONGITUDE } from '../../search-index/extract/position-rows';
import { degreesOfLatitude, EARTH_RADIUS_METERS } from '../query/great-circle';
import { type NearPlace } from '../query/search-query';
import { type Binder } from '../../store/binder';

/** Tolerance, so that rounding of the last digits does not exclude positions on the edge. */
const SLACK_DEGREES = 1e-9;

/** `y(latitude, longitude, meters, south, north)`: the places, with the band of latitudes that all matches lie in. */
export function placesSource(places: readonly NearPlace[], bind: Binder): string {
  const spans = places.map(({ meters }) => degreesOfLatitude(meters) + SLACK_DEGREES);
  const columns = [
    places.map(({ latitude }) => latitude),
    places.map(({ longitude }) => longitude),
    places.map(({ meters }) => meters),
    places.map(({ latitude }, index) => latitude - (spans[index] ?? 0)),
    places.map(({ latitude }, index) => latitude + (spans[index] ?? 0)),
  ].map((values) => `${bind.value(values)}::double precision[]`);
  return `unnest(${columns.join(', ')}) y(latitude, longitude, meters, south, north)`;
}

/** SQL that is true if `row` is the latitude row of a position. */
export const isLatitude = (row: string, parameterId: string): string =>
  `${row}.parameter_id = ${parameterId} and ${row}.code_hash = ${LATITUDE}`;

/** `x`: the longitude of the same position. */
export const longitudeOf = (row: string, parameterId: string): string =>
  `lateral (select o.value from search_number o where o.parameter_id = ${parameterId} and o.code_hash = ${LONGITUDE}
and o.main_date = ${row}.main_date and o.resource_key = ${row}.resource_key limit 1) x`;

/** Meters between the position (latitude row and longitude `x`) and the place `y` (haversine). */
export const metersTo = (row: string): string =>
  `${2 * EARTH_RADIUS_METERS} * asin(least(1, sqrt(power(sin(radians(${row}.value - y.latitude) / 2), 2)
+ cos(radians(${row}.value)) * cos(radians(y.latitude)) * power(sin(radians(x.value - y.longitude) / 2), 2))))`;
