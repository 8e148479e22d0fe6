import { parameterInvalid } from '../platform/errors/parameter-invalid';

/** A period in epoch milliseconds, both ends inclusive. */
export interface DateRange {
  readonly low: number;
  readonly high: number;
}

/** The period of a FHIR date, dateTime, instant or date of a search. */
export interface DateSpan extends DateRange {
  readonly precision: 'year' | 'month' | 'day' | 'minute' | 'second' | 'fraction';
  /** Whether the text names a zone. If not, it is read as UTC. */
  readonly hasZone: boolean;
}

/**
 * The limits of FHIR's years: 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z. Open ends of periods have these
 * values.
 */
export const earliestInstant = -62_135_596_800_000;
export const latestInstant = 253_402_300_799_999;

const dayMilliseconds = 86_400_000;

// Syntax of http://hl7.org/fhir/R4/datatypes.html#dateTime. search.html#date also allows minutes without seconds, and
// times without a zone.
const syntax =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:\.(\d+))?)?(Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?)?)?)?$/;

/**
 * The period of a FHIR date, dateTime, instant or date of a search: `2023` is the whole year, `2023-02-05T10:00:00Z` a
 * second, `…:00.5Z` a tenth of a second. Digits beyond milliseconds are cut off. Without a zone, the time is UTC.
 * @returns undefined if the syntax is wrong or the calendar has no such moment (2023-02-30, year 0000, 24:00)
 */
export function dateSpanOf(text: string): DateSpan | undefined {
  const match = syntax.exec(text);
  if (match === null) return undefined;
  const [, yearText, monthText = '01', dayText = '01', hour, minute, second, fraction, zone] = match;
  const year = Number(yearText);
  const month = Number(monthText);
  const day = Number(dayText);
  const start = dayStart(year, month, day);
  if (year === 0 || new Date(start).getUTCMonth() !== month - 1 || day === 0) return undefined;
  if (match[2] === undefined) return span(start, dayStart(year + 1, 1, 1) - start, 'year', false);
  if (match[3] === undefined) return span(start, dayStart(year, month + 1, 1) - start, 'month', false);
  if (hour === undefined) return span(start, dayMilliseconds, 'day', false);
  const hasZone = zone !== undefined;
  const minuteStart = start + (Number(hour) * 60 + Number(minute)) * 60_000 - offsetMilliseconds(zone);
  if (second === undefined) return span(minuteStart, 60_000, 'minute', hasZone);
  const secondStart = minuteStart + Number(second) * 1000;
  if (fraction === undefined) return span(secondStart, 1000, 'second', hasZone);
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return span(secondStart + milliseconds, 10 ** Math.max(0, 3 - fraction.length), 'fraction', hasZone);
}

/**
 * As {@link dateSpanOf}, for text of a query: a plus sign of a time zone that was not percent-encoded arrives as a
 * space.
 */
export const sentDateSpanOf = (text: string): DateSpan | undefined => dateSpanOf(text.replace(' ', '+'));

export function dateParameter(name: string, text: string): DateSpan {
  const found = sentDateSpanOf(text);
  if (found !== undefined) return found;
  throw parameterInvalid(`${name} must be a time such as 2026-01-31T10:00:00Z, or a date.`, name);
}

/**
 * The range of a FHIR Period. A missing end becomes the limit of FHIR's years. If start and end are swapped, the range
 * is the time between them, so that a search can still find it.
 * @returns undefined if both ends are missing or one is invalid
 */
export function periodRangeOf(period: { readonly start?: unknown; readonly end?: unknown }): DateRange | undefined {
  const { start, end } = period;
  if (start === undefined && end === undefined) return undefined;
  const first = start === undefined ? open : spanOfUnknown(start);
  const last = end === undefined ? open : spanOfUnknown(end);
  if (first === undefined || last === undefined) return undefined;
  return first.low <= last.high ? { low: first.low, high: last.high } : { low: last.low, high: first.high };
}

const open: DateRange = { low: earliestInstant, high: latestInstant };

const spanOfUnknown = (value: unknown): DateSpan | undefined =>
  typeof value === 'string' ? dateSpanOf(value) : undefined;

/** Epoch milliseconds of a midnight in UTC. `Date.UTC` would read the years 1 to 99 as 1901 to 1999. */
const dayStart = (year: number, month: number, day: number): number => new Date(0).setUTCFullYear(year, month - 1, day);

function offsetMilliseconds(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** A time zone can move the start or the end out of FHIR's years, so both are clamped to them. */
const span = (low: number, sizeMilliseconds: number, precision: DateSpan['precision'], hasZone: boolean): DateSpan => ({
  low: clamp(low),
  high: clamp(low + sizeMilliseconds - 1),
  precision,
  hasZone,
});

const clamp = (epochMilliseconds: number): number =>
  Math.min(Math.max(epochMilliseconds, earliestInstant), latestInstant);
