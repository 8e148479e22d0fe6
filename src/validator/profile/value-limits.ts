import { dateSpanOf, type DateSpan } from '../../fhir/instant';
import { isObject, type PlainObject } from '../../platform/json/plain-object';
import { type ProfileRun } from './profile-run';
import { type ElementConstraint } from './stored-profile';

export interface Measures {
  /** Converts a number between units of UCUM; undefined if one cannot be converted into the other. */
  convert(value: number, from: string, to: string): number | undefined;
  now(): number;
}

const UCUM = 'http://unitsofmeasure.org';
const TIME = /^\d\d:\d\d:\d\d(?:\.\d+)?$/;
const HOUR = 3_600_000;
/** The largest difference between a local time and UTC: time zones range from UTC-12 to UTC+14. */
const WIDEST_ZONE = 14 * HOUR;

/**
 * Checks `minValue[x]`, `maxValue[x]` and `maxLength` of a profile (http://hl7.org/fhir/R4/elementdefinition.html). A
 * date is refused only if its whole period is outside of the limits.
 */
export function checkLimits(
  { minValue, maxValue, maxLength }: ElementConstraint,
  value: unknown,
  at: ProfileRun,
  measures: Measures,
): void {
  if (value === undefined || value === null) return;
  if (maxLength !== undefined && typeof value === 'string' && isLonger(value, maxLength))
    at.report('too-long', `it may have at most ${maxLength} characters.`);
  if (minValue !== undefined) checkLimit(minValue.value, 'min', value, at, measures);
  if (maxValue !== undefined) checkLimit(maxValue.value, 'max', value, at, measures);
}

function checkLimit(limit: unknown, side: 'min' | 'max', value: unknown, at: ProfileRun, measures: Measures): void {
  const bound = isObject(limit) && typeof value === 'string' ? aroundNow(limit, side, measures.now()) : limit;
  const order = compare(value, bound, measures);
  const shown = JSON.stringify(limit).slice(0, 100);
  if (order === undefined) at.warn(`the value is not checked against ${shown}; the two cannot be compared.`);
  else if (side === 'min' && order < 0) at.report('value', `it must be at least ${shown}.`);
  else if (side === 'max' && order > 0) at.report('value', `it must be at most ${shown}.`);
}

/**
 * Whether a text has more characters than `length`. Code points are counted, since UTF-16 would count characters beyond
 * the basic plane twice.
 */
function isLonger(text: string, length: number): boolean {
  if (text.length <= length) return false;
  const characters = text[Symbol.iterator]();
  for (let count = 0; count < length; count += 1) if (characters.next().done === true) return false;
  return characters.next().done !== true;
}

/** Negative if all of `value` is less than `limit`, positive if all of it is greater; undefined if incomparable. */
function compare(value: unknown, limit: unknown, measures: Measures): number | undefined {
  if (typeof value === 'number' && typeof limit === 'number') return value - limit;
  if (isObject(value) && isObject(limit)) return compareQuantities(value, limit, measures);
  if (typeof value !== 'string') return undefined;
  const [own, other] = [dateSpanOf(value), typeof limit === 'string' ? dateSpanOf(limit) : limit];
  if (own !== undefined && isSpan(other)) return compareSpans(own, other);
  return typeof limit === 'string' && TIME.test(value) && TIME.test(limit)
    ? secondsOf(value) - secondsOf(limit)
    : undefined;
}

type Span = Pick<DateSpan, 'low' | 'high' | 'hasZone'>;

const isSpan = (value: unknown): value is Span => isObject(value) && 'low' in value && 'high' in value;

function compareSpans(value: Span, limit: Span): number {
  const slack = value.hasZone === limit.hasZone ? 0 : WIDEST_ZONE;
  if (value.high + slack < limit.low) return -1;
  return value.low - slack > limit.high ? 1 : 0;
}

function secondsOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return (hours * 60 + minutes) * 60 + seconds;
}

function compareQuantities(value: PlainObject, limit: PlainObject, measures: Measures): number | undefined {
  if (typeof value.value !== 'number' || typeof limit.value !== 'number') return undefined;
  const isSameUnit = (['system', 'code'] as const).every((key) => value[key] === limit[key]);
  if (isSameUnit && (value.code !== undefined || value.unit === limit.unit)) return value.value - limit.value;
  if (value.system !== UCUM || limit.system !== UCUM) return undefined;
  if (typeof value.code !== 'string' || typeof limit.code !== 'string') return undefined;
  const converted = measures.convert(value.value, value.code, limit.code);
  return converted === undefined ? undefined : converted - limit.value;
}

/**
 * A profile may limit dates by a Quantity of time. The limit is then the present time minus the Quantity (for
 * `minValue`) or plus the Quantity (for `maxValue`).
 */
function aroundNow({ value, code }: PlainObject, side: 'min' | 'max', present: number): Span | undefined {
  if (typeof value !== 'number') return undefined;
  const amount = side === 'min' ? -value : value;
  const now = new Date(present);
  const months = code === 'a' ? 12 : code === 'mo' ? 1 : undefined;
  if (months !== undefined) now.setUTCMonth(now.getUTCMonth() + amount * months);
  else {
    const size = { wk: 168 * HOUR, d: 24 * HOUR, h: HOUR, min: 60_000, s: 1000 }[String(code)];
    if (size === undefined) return undefined;
    now.setTime(now.getTime() + amount * size);
  }
  return { low: now.getTime(), high: now.getTime(), hasZone: true };
}
