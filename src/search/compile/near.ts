import { LATITUDE, LONGITUDE } from '../../search-index/extract/value-rows';
import { degreesOfLatitude, EARTH_RADIUS_METERS } from '../query/great-circle';
import { type NearPlace } from '../query/search-query';
import { type Binder } from '../../store/binder';

/** Degrees of latitude added to the band that is read, so that rounding does not exclude positions on its edge. */
const SLACK_DEGREES = 1e-9;

/**
 * SQL source `y(latitude, longitude, meters, south, north)`: the searched places, each with the band of latitudes,
 * south to north, that holds all its matches.
 */
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

/** SQL that is true if `row` is the latitude of a position. A position has two rows: latitude and longitude. */
export const isLatitude = (row: string, parameterId: string): string =>
  `${row}.parameter_id = ${parameterId} and ${row}.code_hash = ${LATITUDE}`;

/** SQL source `x`: the longitude row of the position whose latitude is `row`. */
export const longitudeOf = (row: string, parameterId: string): string =>
  `lateral (select o.value from search_number o where o.parameter_id = ${parameterId} and o.code_hash = ${LONGITUDE}
and o.main_date = ${row}.main_date and o.resource_key = ${row}.resource_key limit 1) x`;

/**
 * SQL of the meters (haversine) between a position, with its latitude in `row` and its longitude in `x`, and the place
 * `y`.
 */
export const metersTo = (row: string): string =>
  `${2 * EARTH_RADIUS_METERS} * asin(least(1, sqrt(power(sin(radians(${row}.value - y.latitude) / 2), 2)
+ cos(radians(${row}.value)) * cos(radians(y.latitude)) * power(sin(radians(x.value - y.longitude) / 2), 2))))`;
