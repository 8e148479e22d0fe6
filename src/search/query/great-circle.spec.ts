import { describe, expect, it } from '@jest/globals';
import { degreesOfLatitude, greatCircleMeters } from './great-circle';

const at = (latitude: number, longitude: number) => ({ latitude, longitude });

describe(greatCircleMeters, () => {
  it.each([
    ['Paris to London', at(48.8566, 2.3522), at(51.5074, -0.1278), 343_556],
    ['across the date line', at(0, 179.5), at(0, -179.5), 111_195],
    ['across the pole', at(89.5, 0), at(89.5, 180), 111_195],
    ['to the other side', at(0, 0), at(0, 180), 20_015_115],
    ['nowhere', at(12.3, 45.6), at(12.3, 45.6), 0],
  ])('measures %s', (_name, from, to, meters) => {
    expect(Math.round(greatCircleMeters(from, to) / 100)).toBe(Math.round(meters / 100));
    expect(greatCircleMeters(to, from)).toBe(greatCircleMeters(from, to));
  });

  it('spans a degree of latitude in 111.2 km', () => {
    expect(degreesOfLatitude(111_195)).toBeCloseTo(1, 4);
  });
});
