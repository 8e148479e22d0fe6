import { describe, expect, it } from '@jest/globals';
import { degreesOfLatitude, greatCircleMeters } from './great-circle';

const at = (latitude: number, longitude: number) => ({ latitude, longitude });

describe(greatCircleMeters, () => {
  it.each([
    ['the distance from Paris to London', at(48.8566, 2.3522), at(51.5074, -0.1278), 343_556],
    ['a distance across the date line', at(0, 179.5), at(0, -179.5), 111_195],
    ['a distance across the pole', at(89.5, 0), at(89.5, 180), 111_195],
    ['the distance to the antipode', at(0, 0), at(0, 180), 20_015_115],
    ['the distance between equal points', at(12.3, 45.6), at(12.3, 45.6), 0],
  ])('measures %s', (_name, from, to, meters) => {
    expect(Math.round(greatCircleMeters(from, to) / 100)).toBe(Math.round(meters / 100));
    expect(greatCircleMeters(to, from)).toBe(greatCircleMeters(from, to));
  });

  it('converts 111.2 km to one degree of latitude', () => {
    expect(degreesOfLatitude(111_195)).toBeCloseTo(1, 4);
  });
});
