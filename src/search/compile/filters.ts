import { createdAt } from '../../store/resource-statements';
import { type DateBox, type NumberRange, type StringClause } from '../query/search-query';
import { type Binder } from '../../store/binder';
import { likePattern } from './body-text';
import { instantFilter } from './date-filter';
import { anyStep, FEW, type Step } from './many';

export function stringFilter(row: string, { match, texts }: StringClause, bind: Binder): string {
  const tests = texts.map((text) => {
    if (match === 'contains') return `${row}.value like ${bind.value(likePattern(text))}`;
    if (match === 'suffix') return `${row}.value like ${bind.value(likePattern(text).slice(0, -1))}`;
    return `(${row}.beginning >= ${bind.value(text)} and ${row}.beginning < ${bind.value(`${text}\u{10FFFF}`)})`;
  });
  return `(${tests.join(' or ')})`;
}

/**
 * SQL that tests the time of version 1. For an unchanged resource it is the time in the row, else the time in the
 * history, which keeps all versions. A change is never earlier than the creation, so the time in the row excludes most
 * rows without reading the history.
 */
export function createdFilter(row: string, boxes: readonly DateBox[], bind: Binder): string {
  const early = boxes.map(({ lowTo: _to, highTo: _until, ...from }) => from);
  return `${instantFilter(`${row}.updated_at`, early, bind)} and ${instantFilter(createdAt(row), boxes, bind)}`;
}

export function numberFilter(row: string, ranges: readonly NumberRange[], bind: Binder): string {
  const tests = ranges.length > FEW ? manyRanges(row, ranges, bind) : ranges.map((range) => inRange(row, range, bind));
  return `(${tests.length === 0 ? 'false' : tests.join(' or ')})`;
}

function inRange(row: string, range: NumberRange, bind: Binder): string {
  const [low, high] = stepOf(range);
  const limits = [
    ...(low === -Infinity ? [] : [`${row}.value >= ${bind.value(low)}::double precision`]),
    ...(high === Infinity ? [] : [`${row}.value <= ${bind.value(high)}::double precision`]),
    ...(range.unitHash === undefined ? [] : [`${row}.unit_hash = ${bind.value(range.unitHash)}::integer`]),
  ];
  return limits.length === 0 ? 'true' : `(${limits.join(' and ')})`;
}

/**
 * SQL tests of many ranges: one test for each unit. Only few stored units have the same meaning, so there are few
 * tests.
 */
function manyRanges(row: string, ranges: readonly NumberRange[], bind: Binder): readonly string[] {
  const value = `${row}.value`;
  return [...new Set(ranges.map(({ unitHash }) => unitHash))].map((unit) => {
    const steps = ranges.filter(({ unitHash }) => unitHash === unit).map(stepOf);
    const isWithin = anyStep([value, value], steps, 'double precision', bind);
    return unit === undefined ? isWithin : `(${row}.unit_hash = ${bind.value(unit)}::integer and ${isWithin})`;
  });
}

/** The range with both ends included. With an exclusive end, the index scan would read all rows equal to that end. */
export const stepOf = ({ low, high, isLowOpen, isHighOpen }: NumberRange): Step => [
  isLowOpen ? nextAbove(low) : low,
  isHighOpen ? -nextAbove(-high) : high,
];

const bits = new DataView(new ArrayBuffer(8));

function nextAbove(value: number): number {
  if (!Number.isFinite(value)) return value;
  if (value === 0) return Number.MIN_VALUE;
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return bits.getFloat64(0);
}
