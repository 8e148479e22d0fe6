import { type Statement } from './statement';
import { type Statements } from './statements';

const SWEPT_AT_ONCE = 1000;

/**
 * Makes a statement that deletes expired rows of a table with the column `expires_at`, and returns whether there may be
 * more. A row that another statement has locked is left for the next sweep.
 * @param key the primary key of the table
 */
export const sweepOf = (name: string, table: string, key: string): Statement => ({
  name,
  text: `with gone as (
      delete from ${table} where ${key} in (
        select ${key} from ${table} where expires_at < clock_timestamp()
        order by expires_at limit ${SWEPT_AT_ONCE} for update skip locked)
      returning 1
    ) select count(*) = ${SWEPT_AT_ONCE} as has_more from gone`,
});

/**
 * Runs a statement that deletes some expired rows. It is the step of a background task: callers can add rows faster
 * than one statement for each interval deletes them.
 * @returns 0 if there may be more rows, so that the next step follows at once
 */
export async function sweep(statements: Statements, statement: Statement): Promise<0 | undefined> {
  const { has_more: hasMore } = (await statements.runOne<{ has_more: boolean }>(statement, [])) ?? {};
  return hasMore === true ? 0 : undefined;
}
