import { earliestInstant } from '../../fhir/instant';
import { type DateClause } from '../query/search-query';
import { parameterAlternatives, rowsOfEach } from './alternatives';
import { type Binder } from '../../store/binder';
import { reachOf } from './date-bounds';
import { dateFilter, instantPlace } from './date-filter';

// SQL for rows of dates, ordered by the beginning of their periods. A period of at most a day lies near its beginning,
// so the index by beginning finds it. Longer periods have a separate index.

const DAY = 86_400_000;

const ROW = ['main_date', 'resource_key'];

/** Whether the searched time contains the beginning of each matching period, as for `eq` and `sa`. */
export const containsBeginnings = ({ boxes }: DateClause): boolean =>
  boxes.every(({ lowFrom }) => lowFrom !== undefined && lowFrom > earliestInstant);

/** Conditions on `column`, the beginning of a period. All matching rows whose period lasts at most a day meet them. */
export function reachFilter(date: DateClause, column: string, bind: Binder): string {
  const { from, to } = reachOf(date.boxes);
  const longest = containsBeginnings(date) ? 0 : DAY;
  return [
    ...(from === undefined ? [] : [` and ${column} >= ${instantPlace(from - longest, bind)}`]),
    ...(to === undefined ? [] : [` and ${column} <= ${instantPlace(to, bind)}`]),
  ].join('');
}

/** Rows `c` with their main date: the beginning of the period, or its end if it has no beginning. */
export const BY_BEGINNING =
  '(select d.low as main_date, d.low, d.high, d.resource_key, d.parameter_id from search_date d)';

/** Conditions for all matching rows `c` that last at most a day, and some of the longer ones. */
export const mainDateRows = (date: DateClause, bind: Binder): string =>
  ` and c.main_date > ${instantPlace(earliestInstant, bind)}${reachFilter(date, 'c.main_date', bind)} and ${dateFilter('c', date.boxes, bind)}`;

/** Conditions for matching rows `c` that last for more than a day, to be read from the latest beginning. */
export function latestLongRows(date: DateClause, bind: Binder): string {
  const { to } = reachOf(date.boxes);
  const until = to === undefined ? '' : ` and c.main_date <= ${instantPlace(to, bind)}`;
  return ` and c.main_date > ${instantPlace(earliestInstant, bind)}${until} and c.high - c.low > interval '1 day' and ${dateFilter('c', date.boxes, bind)}`;
}

/** Conditions for matching rows `c` whose period has no beginning. */
export const unbegunRows = (date: DateClause, bind: Binder): string =>
  ` and c.low <= ${instantPlace(earliestInstant, bind)} and ${dateFilter('c', date.boxes, bind)}`;

/**
 * The number of long periods up to which they are gathered. Gathering a row costs seven times as much as passing one in
 * a walk; at this number, a page of 20 costs the same either way.
 */
export const mostLongDates = (resources: number): number =>
  Math.min(Math.max(Math.round(Math.sqrt(3 * resources)), 50), 1_000);

/**
 * SQL that selects `main_date, resource_key` of matching rows that last for more than a day, and of those that begin at
 * the earliest instant. A walk by beginnings passes over the latter, since it cannot tell 0001-01-01 from no beginning.
 */
export function longDates({ parameterIds, boxes }: DateClause, bind: Binder): string {
  const { from, to } = reachOf(boxes);
  const low = from === undefined ? `'-infinity'` : instantPlace(from, bind);
  const high = to === undefined ? `'infinity'` : instantPlace(to, bind);
  const rows = (where: string): string =>
    rowsOfEach(parameterAlternatives(parameterIds, bind), 'search_date', 'g', [...ROW, 'low', 'high'], where);
  const long = rows(
    ` and g.high - g.low > interval '1 day' and tstzrange(g.low, g.high, '[]') && tstzrange(${low}, ${high}, '[]')`,
  );
  const isEarliestReached = from === undefined || from <= earliestInstant + DAY;
  const earliest = isEarliestReached
    ? ` union all ${rows(` and g.low <= ${instantPlace(earliestInstant, bind)} and g.high - g.low <= interval '1 day'`)}`
    : '';
  // This condition stays outside the inner query; otherwise the planner scans the whole index by beginnings.
  return `select g.main_date, g.resource_key from (${long}${earliest} offset 0) g where ${dateFilter('g', boxes, bind)}`;
}

/** SQL that selects `main_date, resource_key` of all matching rows, unordered. */
export function allDates(date: DateClause, bind: Binder): string {
  const rest = `${reachFilter(date, 'd.low', bind)} and ${dateFilter('d', date.boxes, bind)}`;
  const short = rowsOfEach(parameterAlternatives(date.parameterIds, bind), 'search_date', 'd', ROW, rest);
  return `${short} union all ${longDates(date, bind)}`;
}
