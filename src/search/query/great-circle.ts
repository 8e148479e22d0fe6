/** The mean radius of the Earth by the IUGG, in meters; great circles on it are within half a percent of WGS84. */
export const EARTH_RADIUS_METERS = 6_371_008.8;

/** A position in degrees; south and west are negative. */
export interface Position {
  readonly latitude: number;
  readonly longitude: number;
}

/** The great-circle distance in meters (haversine), which is also right at the poles and across the date line. */
export function greatCircleMeters(one: Position, other: Position): number {
  const half = (degrees: number): number => Math.sin((degrees * Math.PI) / 360) ** 2;
  const cosine = (degrees: number): number => Math.cos((degrees * Math.PI) / 180);
  const square =
    half(other.latitude - one.latitude) +
    cosine(one.latitude) * cosine(other.latitude) * half(other.longitude - one.longitude);
  return 2 * EARTH_RADIUS_METERS * Math.asin(Math.min(1, Math.sqrt(square)));
}

/** The degrees of latitude that a distance in meters spans at most. */
export const degreesOfLatitude = (meters: number): number => (meters / EARTH_RADIUS_METERS) * (180 / Math.PI);
