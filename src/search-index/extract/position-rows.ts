import { type RowWriter } from './extraction';
import { isObject } from '../../platform/json/plain-object';

/** Whether a number row holds a latitude or a longitude. The column of the code's hash stores it. */
export const LATITUDE = 0;
export const LONGITUDE = 1;

/**
 * Writes the two rows of a Location.position, in degrees of WGS84 (http://hl7.org/fhir/R4/location.html#search). A
 * search reads latitudes in index order, and looks up the longitude of each by key.
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
