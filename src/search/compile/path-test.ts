import { type PathTest } from '../query/search-query';
import { type Binder } from '../../store/binder';
import { likePattern } from './body-text';
import { dateFilter } from './date-filter';

const OPERATORS = { eq: '=', gt: '>', ge: '>=', lt: '<', le: '<=' } as const;

/**
 * SQL that is true if the JSON value `v` can be read as a number. The conversion of any other text would fail the
 * statement.
 */
const isNumeric = (v: string): string =>
  `case jsonb_typeof(${v}) when 'number' then true when 'string' then length(${v} #>> '{}') <= 200 and ${v} #>> '{}' ~ '^[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?$' else false end`;

/**
 * Pattern of FHIR dates that PostgreSQL can convert. The day is added as an interval, so a date that is not in the
 * calendar cannot fail the statement.
 */
const DATE = `'^(?!0000)([0-9]{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12][0-9]|3[01])(?:T((?:[01][0-9]|2[0-3]):[0-5][0-9])(:(?:[0-5][0-9]|60)(?:[.][0-9]{1,9})?)?(Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?)?)?)?$'`;

/** SQL that tests a JSON value `v`. An object or array never matches. */
export function pathTest(test: PathTest, v: string, bind: Binder): string {
  const text = `(${v} #>> '{}')`;
  const isScalar = `jsonb_typeof(${v}) in ('string', 'number', 'boolean')`;
  const isNumber = `jsonb_typeof(${v}) = 'number'`;
  switch (test.kind) {
    case 'exists':
      return `jsonb_typeof(${v}) <> 'null'`;
    case 'value': {
      const numbers = `(select u.n::numeric from unnest(${bind.value(test.numbers)}::text[]) u(n))`;
      return `(case when ${isNumber} then ${text}::numeric in ${numbers} else ${isScalar} and ${text} = any(${bind.value(test.texts)}::text[]) end)`;
    }
    case 'text': {
      const tests = test.texts.map((one) => `${text} collate "C" ${OPERATORS[test.operator]} ${bind.value(one)}`);
      return `(${isScalar} and (${tests.join(' or ')}))`;
    }
    case 'like': {
      const tests = test.texts.map((one) => `${text} ilike ${bind.value(patternOf(one, test.match))}`);
      return `(${isScalar} and (${tests.join(' or ')}))`;
    }
    case 'number': {
      const tests = test.numbers.map(
        (one) => `${text}::numeric ${OPERATORS[test.operator]} ${bind.value(one)}::numeric`,
      );
      return `(case when ${isNumeric(v)} then ${tests.join(' or ')} else false end)`;
    }
    case 'date':
      return `coalesce((select ${dateFilter('d', test.boxes, bind)} from ${dateSpan(text)} d(low, high)), false)`;
  }
}

/** SQL of the sort value of `v`; null if `v` is not of the kind `as`. */
export function pathValue(v: string, as: 'json' | 'text' | 'number' | 'date'): string {
  const text = `(${v} #>> '{}')`;
  switch (as) {
    case 'json':
      return `left(${text}, 256) collate "C"`;
    case 'text':
      return `case when jsonb_typeof(${v}) in ('string', 'number', 'boolean') then left(${text}, 256) collate "C" end`;
    case 'number':
      return `case when ${isNumeric(v)} then ${asDouble(`${text}::numeric`)} end`;
    case 'date':
      return `(select d.low from ${dateSpan(text)} d(low, high))`;
  }
}

/**
 * SQL of a number as a double. Numbers beyond the range of a double would fail the statement, so they become null, or 0
 * if they are too small.
 */
const asDouble = (numeric: string): string =>
  `case when abs(${numeric}) < 1e-300 then 0 when abs(${numeric}) < 1e300 then ${numeric}::double precision end`;

function patternOf(text: string, match: 'contains' | 'starts' | 'ends'): string {
  const pattern = likePattern(text);
  return match === 'starts' ? pattern.slice(1) : match === 'ends' ? pattern.slice(0, -1) : pattern;
}

/**
 * SQL `(select low, high …)` of the period that a FHIR date covers; no row for other texts. Times without a zone are
 * UTC.
 */
const dateSpan = (text: string): string => `(select p.low, p.low + case
  when m.m[2] is null then interval '1 year' when m.m[3] is null then interval '1 month' when m.m[4] is null then interval '1 day'
  when m.m[5] is null then interval '1 minute' when length(m.m[5]) = 3 then interval '1 second' when length(m.m[5]) = 5 then interval '100 milliseconds'
  when length(m.m[5]) = 6 then interval '10 milliseconds' else interval '1 millisecond' end
  - interval '1 millisecond' as high
from regexp_match(${text}, ${DATE}) m(m)
cross join lateral (select (m.m[1] || '-' || coalesce(m.m[2], '01') || '-01 ' || coalesce(m.m[4], '00:00') || coalesce(m.m[5], '') || coalesce(m.m[6], 'Z'))::timestamptz
  + (coalesce(m.m[3], '01')::integer - 1) * interval '1 day' as low offset 0) p where m.m is not null)`;
