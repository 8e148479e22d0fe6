import { type NearClause, type NearPlace } from '../query/search-query';
import { conversionOf } from '../../platform/ucum/ucum';
import { type SentParameter } from './search-scope';
import { alternativesOf, assertFew, assertNoModifier, invalid, splitOutsideEscapes, unescaped } from './values';

/** Radius of a search that names none; R4 leaves the default to the server. */
const DEFAULT_KILOMETERS = 50;

/** Common names of units, with their UCUM codes. */
const COMMON_UNITS: ReadonlyMap<string, string> = new Map([
  ['mi', '[mi_i]'],
  ['ft', '[ft_i]'],
  ['yd', '[yd_i]'],
  ['nmi', '[nmi_i]'],
]);

/** Reads `latitude|longitude|distance|units`, a place and a radius (http://hl7.org/fhir/R4/location.html#search). */
export function nearClauseOf({ parameter: { code, parameterId }, modifier, name, values }: SentParameter): NearClause {
  assertNoModifier(name, modifier, ['missing']);
  assertFew(code, values);
  return { kind: 'near', parameterId, places: values.map((value) => placeOf(code, value)) };
}

/** The places that a search names. Each match shows its distance to the nearest one. */
export const placesIn = (code: string, query: URLSearchParams): readonly NearPlace[] =>
  query
    .getAll(code)
    .flatMap((value) => (value === '' ? [] : alternativesOf(code, value).map((one) => placeOf(code, one))));

function placeOf(name: string, text: string): NearPlace {
  const [latitude = '', longitude = '', distance = '', unit = '', ...rest] = splitOutsideEscapes(text, '|').map(
    unescaped,
  );
  if (rest.length > 0) throw invalid(name, 'takes latitude|longitude|distance|units, such as 48.21|16.37|5|km');
  return {
    latitude: degreesOf(name, 'latitude', latitude, 90),
    longitude: degreesOf(name, 'longitude', longitude, 180),
    meters: metersOf(name, distance === '' ? String(DEFAULT_KILOMETERS) : distance, distance === '' ? 'km' : unit),
  };
}

function degreesOf(name: string, what: string, text: string, most: number): number {
  const degrees = decimalOf(text);
  if (degrees !== undefined && Math.abs(degrees) <= most) return degrees;
  throw invalid(name, `begins with latitude|longitude in degrees, and its ${what} is none from -${most} to ${most}`);
}

function metersOf(name: string, text: string, unit: string): number {
  const distance = decimalOf(text);
  if (distance === undefined || distance < 0) throw invalid(name, 'has a distance that is no positive number');
  const code = unit === '' ? 'km' : (COMMON_UNITS.get(unit) ?? unit);
  const conversion = conversionOf(code, 'm');
  if (conversion === undefined) throw invalid(name, 'has units that measure no length; take km, m, mi or a UCUM code');
  return distance * conversion.factor;
}

const decimalOf = (text: string): number | undefined =>
  /^[+-]?\d{1,15}(\.\d{1,30})?$/.test(text) ? Number(text) : undefined;
