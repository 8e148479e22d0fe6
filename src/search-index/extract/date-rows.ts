import { type DateRange, dateSpanOf, periodRangeOf } from '../../fhir/instant';
import { type RowWriter } from './extraction';
import { isObject } from '../../platform/json/plain-object';

/**
 * Writes the rows of a date parameter, from values of date, dateTime, instant, Period and Timing.
 * http://hl7.org/fhir/R4/search.html#date
 */
export function dateRows(parameterId: number): RowWriter {
  return (value, extraction) => {
    const range = rangeOf(value);
    if (range !== undefined) extraction.addDate(parameterId, range.low, range.high);
  };
}

function rangeOf(value: unknown): DateRange | undefined {
  if (typeof value === 'string') return dateSpanOf(value);
  if (!isObject(value)) return undefined;
  return 'event' in value || 'repeat' in value ? timingRangeOf(value) : periodRangeOf(value);
}

/** The period of a Timing, from its first event or bound to its last. */
function timingRangeOf({
  event,
  repeat,
}: {
  readonly event?: unknown;
  readonly repeat?: unknown;
}): DateRange | undefined {
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
