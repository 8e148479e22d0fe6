import { isFhirId } from '../../fhir/reference';
import { dateSpanOf, type DateSpan } from '../../fhir/instant';
import { xhtmlFaultOf } from './xhtml';

/** The check of a primitive type: its JSON kind, a test of the value, and a description for messages. */
export interface PrimitiveCheck {
  readonly json: 'string' | 'number' | 'boolean';
  readonly is: (value: string | number | boolean) => boolean;
  readonly description: string;
}

/** Maximum number of characters of a string (http://hl7.org/fhir/R4/datatypes.html#string). */
const MAX_STRING_LENGTH = 1024 * 1024;
const MAX_INTEGER = 2 ** 31 - 1;

const TEXT = /^[\t\n\r\u0020-\uFFFF]+$/;
const CODE = /^\S+(?:[ \t\r\n]\S+)*$/;
const URI = /^\S+$/;
const OID = /^urn:oid:[0-2](?:\.(?:0|[1-9][0-9]*))+$/;
const UUID = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?$/;

/**
 * The primitive types of R4 with their formats (http://hl7.org/fhir/R4/datatypes.html#primitive). Three differ from R4.
 * Strings may contain any white space, as in the corrected pattern of R5. Dates must exist in the calendar. A uuid may
 * be in upper case.
 */
export const PRIMITIVES: Readonly<Record<string, PrimitiveCheck>> = {
  boolean: { json: 'boolean', is: () => true, description: 'true or false, without quotes' },
  integer: numberPrimitive(-MAX_INTEGER - 1, `a whole number from ${-MAX_INTEGER - 1} to ${MAX_INTEGER}`),
  unsignedInt: numberPrimitive(0, `a whole number from 0 to ${MAX_INTEGER}`),
  positiveInt: numberPrimitive(1, `a whole number from 1 to ${MAX_INTEGER}`),
  decimal: numberPrimitive(undefined, 'a number'),
  string: textPrimitive(isText, 'a text of 1 to 1,048,576 characters without control characters'),
  markdown: textPrimitive(isText, 'a text of 1 to 1,048,576 characters without control characters'),
  code: textPrimitive((value) => CODE.test(value), 'a code: no white space around it, and single spaces only inside'),
  id: textPrimitive(isFhirId, 'an id: 1 to 64 letters, digits, "-" or "."'),
  uri: textPrimitive((value) => URI.test(value), 'a URI, without white space'),
  url: textPrimitive((value) => URI.test(value), 'a URL, without white space'),
  canonical: textPrimitive((value) => URI.test(value), 'a canonical URL, without white space'),
  oid: textPrimitive((value) => OID.test(value), 'an OID as URI, such as "urn:oid:1.2.3"'),
  uuid: textPrimitive(
    (value) => UUID.test(value),
    'a UUID as URI: "urn:uuid:" and 32 hexadecimal digits in five groups',
  ),
  base64Binary: textPrimitive(isBase64, 'base64: letters, digits, "+", "/", padded with "=" to groups of four'),
  date: textPrimitive((value) => isDay(dateSpanOf(value)), 'a date that exists: YYYY, YYYY-MM or YYYY-MM-DD'),
  dateTime: textPrimitive(
    (value) => isDayOrMoment(dateSpanOf(value)),
    'a date that exists (YYYY, YYYY-MM, YYYY-MM-DD), or a time with seconds and zone such as 2015-02-07T13:28:17+02:00',
  ),
  instant: textPrimitive(
    (value) => isMoment(dateSpanOf(value)),
    'a moment with seconds and zone, such as 2015-02-07T13:28:17.239+02:00',
  ),
  time: textPrimitive((value) => TIME.test(value), 'a time of day: hh:mm:ss'),
  xhtml: textPrimitive(
    (value) => xhtmlFaultOf(value) === undefined,
    'one <div> of well-formed XHTML with formatting elements only: no scripts, forms, objects or event attributes, and not empty',
  ),
};

function textPrimitive(is: (value: string) => boolean, description: string): PrimitiveCheck {
  return { json: 'string', is: (value) => is(String(value)), description };
}

/** @param least the least allowed whole number; undefined if fractions are allowed */
function numberPrimitive(least: number | undefined, description: string): PrimitiveCheck {
  const isWhole = (value: number, from: number): boolean =>
    Number.isInteger(value) && value >= from && value <= MAX_INTEGER;
  return { json: 'number', is: (value) => least === undefined || isWhole(Number(value), least), description };
}

function isText(value: string): boolean {
  return value.length <= MAX_STRING_LENGTH && TEXT.test(value);
}

function isDay(span: DateSpan | undefined): boolean {
  return span !== undefined && (span.precision === 'day' || span.precision === 'month' || span.precision === 'year');
}

function isMoment(span: DateSpan | undefined): boolean {
  return span !== undefined && span.hasZone && (span.precision === 'second' || span.precision === 'fraction');
}

/** Takes the parsed date, so that a text is parsed only once: parsing times is a large part of a validation's cost. */
const isDayOrMoment = (span: DateSpan | undefined): boolean => isDay(span) || isMoment(span);

/**
 * Whether a text is base64, with white space allowed between its characters. It is checked character by character,
 * since a pattern would keep state for each group of a 20 MB attachment.
 */
function isBase64(value: string): boolean {
  let symbols = 0;
  let padding = 0;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) continue;
    if (code === 0x3d) padding += 1;
    else if (padding > 0 || !isBase64Symbol(code)) return false;
    symbols += 1;
  }
  return symbols > 0 && symbols % 4 === 0 && padding <= 2;
}

const isBase64Symbol = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2b ||
  code === 0x2f;
