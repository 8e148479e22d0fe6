import { type RowWriter } from './extraction';
import { isObject } from '../../platform/json/plain-object';

/** Marks which coordinate a number row holds; stored in the column of the code's hash. */
export const LATITUDE = 0;
export const LONGITUDE = 1;

/**
 * The two rows of a Location.position, in degrees of WGS84 (http://hl7.org/fhir/R4/location.html#search). Latitudes are
 * read in index order, longitudes are probed by key.
 */
export function positionRows(parameterId: number): RowWriter {
  return (value, extraction) => {
    if (!isObject(value)) return;
    const { latitude, longitude } = value;
    if (typeof latitude !== 'number' || typeof longitude !== 'number') return;
    extraction.addNumber({ parameterId, codeHash: LATITUDE, value: latitude, unitHash: 0 }, undefined);
    extraction.addNumber({ parameterId, codeHash: LONGITUDE, value: longitude, unitHash: 0 }, undefined);
  };
}
