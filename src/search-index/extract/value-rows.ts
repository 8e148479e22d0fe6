import { type DateRange, dateSpanOf, periodRangeOf } from '../../fhir/instant';
import { canonicalKeysOf, referenceTargetOf } from '../../fhir/reference';
import { type SearchParameterKind } from '../../fhir/definitions/definitions';
import { visitEach } from '../../fhirpath/fhirpath';
import { isObject } from '../../platform/json/plain-object';
import { type Extraction, type RowWriter } from './extraction';
import { foldText } from './fold';
import { type Unit } from './search-rows';

/** @param identifiesPatient whether a Patient found here is the one that the resource belongs to */
type WriteRows = (value: unknown, extraction: Extraction, parameterId: number, identifiesPatient: boolean) => void;

/** The rows of a composite are written by compositeRows. */
const WRITERS: Readonly<Partial<Record<SearchParameterKind, WriteRows>>> = {
  token: writeTokens,
  uri: writeUri,
  reference: writeReference,
  date: writeDate,
  string: writeTexts,
  number: writeNumbers,
  quantity: writeNumbers,
  special: writePosition,
};

/**
 * Returns the writer of a parameter.
 * @param identifiesPatient whether a Patient found here is the one that the resource belongs to
 */
export function valueRows(
  kind: SearchParameterKind,
  parameterId: number,
  identifiesPatient: boolean,
): RowWriter | undefined {
  const write = WRITERS[kind];
  if (write === undefined) return undefined;
  return (value, extraction) => {
    write(value, extraction, parameterId, identifiesPatient);
  };
}

/**
 * Writes the rows of a token parameter. The shape of a value shows whether it is a CodeableConcept, Coding, Identifier,
 * ContactPoint or primitive. Codes are kept as written, because case matters in most code systems.
 * http://hl7.org/fhir/R4/search.html#token
 */
function writeTokens(value: unknown, extraction: Extraction, parameterId: number): void {
  visitCodes(value, (code, system) => {
    addToken(extraction, parameterId, code, system);
  });
}

export function codesOf(value: unknown): readonly { readonly code: string; readonly system?: string }[] {
  const codes: { code: string; system?: string }[] = [];
  visitCodes(value, (code, system) => {
    if (isScalar(code)) codes.push({ code: String(code), ...(typeof system === 'string' ? { system } : {}) });
  });
  return codes;
}

/** Visits codes one by one. With a list of codes, the rows of an Observation cost a fifth more. */
function visitCodes(value: unknown, visit: (code: unknown, system: unknown) => void): void {
  if (!isObject(value)) {
    visit(value, undefined);
    return;
  }
  const { coding, code, value: text, system } = value;
  if (!Array.isArray(coding)) {
    visit(code ?? text, system);
    return;
  }
  for (const item of coding as unknown[]) if (isObject(item)) visit(item.code, item.system);
}

/**
 * Writes the rows of a uri parameter: the exact text, and for a canonical with a version also the URL without it.
 * http://hl7.org/fhir/R4/search.html#uri
 */
function writeUri(value: unknown, extraction: Extraction, parameterId: number): void {
  if (typeof value !== 'string') return;
  addToken(extraction, parameterId, value, undefined);
  const bar = value.indexOf('|');
  if (bar > 0) addToken(extraction, parameterId, value.slice(0, bar), undefined);
}

function addToken(extraction: Extraction, parameterId: number, code: unknown, system: unknown): void {
  if (!isScalar(code)) return;
  const { hashes } = extraction;
  extraction.addToken(
    hashes.ofToken(parameterId, String(code)),
    hashes.ofSystem(typeof system === 'string' ? system : undefined),
  );
}

function isScalar(code: unknown): code is string | number | boolean {
  return (typeof code === 'string' && code !== '') || typeof code === 'boolean' || typeof code === 'number';
}

/**
 * Writes the rows of a reference parameter. Its values are references (relative or absolute), canonicals, and resources
 * that take the place of a reference. A reference to a contained resource has no key and gives no row.
 * http://hl7.org/fhir/R4/search.html#reference
 */
function writeReference(value: unknown, extraction: Extraction, parameterId: number, identifiesPatient: boolean): void {
  const { baseUrl, hashes } = extraction;
  if (typeof value === 'string') {
    for (const key of canonicalKeysOf(value, baseUrl)) extraction.addReference(hashes.ofTarget(key), parameterId);
    return;
  }
  const target = referenceTargetOf(value, baseUrl);
  if (target === undefined || target.kind === 'contained') return;
  const targetHash = hashes.ofTarget(target.key);
  extraction.addReference(targetHash, parameterId);
  if (identifiesPatient && target.kind !== 'urn' && target.type === 'Patient') extraction.patientHash ||= targetHash;
}

/**
 * Writes the rows of a date parameter, from values of date, dateTime, instant, Period and Timing.
 * http://hl7.org/fhir/R4/search.html#date
 */
function writeDate(value: unknown, extraction: Extraction, parameterId: number): void {
  const range = rangeOf(value);
  if (range !== undefined) extraction.addDate(parameterId, range.low, range.high);
}

function rangeOf(value: unknown): DateRange | undefined {
  if (typeof value === 'string') return dateSpanOf(value);
  if (!isObject(value)) return undefined;
  return 'event' in value || 'repeat' in value ? timingRangeOf(value) : periodRangeOf(value);
}

/** The period of a Timing, from its first event or bound to its last. */
function timingRangeOf({ event, repeat }: Readonly<Record<string, unknown>>): DateRange | undefined {
  const events = Array.isArray(event) ? (event as unknown[]) : [];
  const ranges = events.map((moment): DateRange | undefined =>
    typeof moment === 'string' ? dateSpanOf(moment) : undefined,
  );
  return [...ranges, boundsOf(repeat)].reduce(outerRange, undefined);
}

function boundsOf(repeat: unknown): DateRange | undefined {
  const bounds = isObject(repeat) ? repeat.boundsPeriod : undefined;
  return isObject(bounds) ? periodRangeOf(bounds) : undefined;
}

function outerRange(a: DateRange | undefined, b: DateRange | undefined): DateRange | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) };
}

/** The parts of a HumanName and an Address that are searched; `use`, `type` and `period` are not. */
const partNames = [
  ...['family', 'given', 'prefix', 'suffix'],
  ...['line', 'city', 'district', 'state', 'postalCode', 'country', 'text'],
];

/**
 * Writes the rows of a string parameter: the text, or each part of a name or address.
 * http://hl7.org/fhir/R4/search.html#string
 */
function writeTexts(value: unknown, extraction: Extraction, parameterId: number): void {
  const add = (text: unknown): void => {
    const folded = typeof text === 'string' ? foldText(text) : '';
    if (folded !== '') extraction.addString(parameterId, folded);
  };
  if (isObject(value)) for (const name of partNames) visitEach(value[name], add, extraction);
  else add(value);
}

/** One number of a value, with its unit. A Range gives two numbers, its ends. */
interface Amount {
  readonly value: number;
  readonly unit?: Unit;
}

/** Writes the rows of a number or quantity parameter. http://hl7.org/fhir/R4/search.html#number, #quantity */
function writeNumbers(value: unknown, extraction: Extraction, parameterId: number): void {
  for (const { value: amount, unit } of amountsOf(value)) extraction.addNumber(parameterId, 0, amount, unit);
}

/** The numbers in an integer, decimal, Quantity, Money, Range or SampledData. Other shapes give none. */
export function amountsOf(value: unknown): readonly Amount[] {
  if (typeof value === 'number') return Number.isFinite(value) ? [{ value }] : [];
  if (!isObject(value)) return [];
  if (value.value !== undefined) return quantityOf(value);
  return [value.low ?? value.lowerLimit, value.high ?? value.upperLimit].flatMap((end) =>
    isObject(end) ? quantityOf(end) : amountsOf(typeof end === 'number' ? end : undefined),
  );
}

function quantityOf({ value, system, code, unit, currency }: Readonly<Record<string, unknown>>): readonly Amount[] {
  if (typeof value !== 'number' || !Number.isFinite(value)) return [];
  if (typeof currency === 'string') return [{ value, unit: { system: CURRENCIES, code: currency } }];
  const known: { -readonly [Member in keyof Unit]: Unit[Member] } = {};
  if (typeof system === 'string') known.system = system;
  if (typeof code === 'string') known.code = code;
  if (typeof unit === 'string') known.unit = unit;
  return [Object.keys(known).length === 0 ? { value } : { value, unit: known }];
}

/** The system of the code of a Money (http://hl7.org/fhir/R4/datatypes.html#Money). */
const CURRENCIES = 'urn:iso:std:iso:4217';

/** The code hash of a number row that holds a latitude or a longitude. */
export const LATITUDE = 0;
export const LONGITUDE = 1;

/**
 * Writes the two rows of a Location.position, in degrees of WGS84 (http://hl7.org/fhir/R4/location.html#search). A
 * search reads latitudes in index order, and looks up the longitude of each by key.
 */
function writePosition(value: unknown, extraction: Extraction, parameterId: number): void {
  if (!isObject(value)) return;
  const { latitude, longitude } = value;
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return;
  extraction.addNumber(parameterId, LATITUDE, latitude);
  extraction.addNumber(parameterId, LONGITUDE, longitude);
}
