import { earliestInstant, latestInstant } from '../../../fhir/instant';
import { type DateBox } from '../search-query';
import { type Binder } from './binder';

/** SQL that is true for rows with `low` and `high` that fit one of the boxes. */
export function dateFilter(row: string, boxes: readonly DateBox[], bind: Binder): string {
  const tests = boxes.map((box) => {
    const limits = [
      limitOf(`${row}.low`, '>=', box.lowFrom, bind),
      limitOf(`${row}.low`, '<=', box.lowTo, bind),
      limitOf(`${row}.high`, '>=', box.highFrom, bind),
      limitOf(`${row}.high`, '<=', box.highTo, bind),
    ].filter((limit) => limit !== '');
    return limits.length === 0 ? 'true' : `(${limits.join(' and ')})`;
  });
  return `(${tests.join(' or ')})`;
}

export function limitOf(column: string, operator: string, at: number | undefined, bind: Binder): string {
  return at === undefined ? '' : `${column} ${operator} ${instantPlace(at, bind)}`;
}

/** An instant of epoch milliseconds in SQL. */
export const instantPlace = (at: number, bind: Binder): string => `${bind.value(new Date(clamped(at)))}::timestamptz`;

/** Beyond the years of FHIR there is nothing to find, and PostgreSQL writes them in another way. */
const clamped = (at: number): number => Math.min(Math.max(at, earliestInstant), latestInstant);
