import { type SearchClause } from '../query/search-query';
import { isDeep } from './followed-links';

/** Row counts of frequent values of a table, and of types; undefined for others. */
export interface Frequencies {
  /**
   * The rows of `table` with a value: hash of a token, of a target, of the code that a composite parameter pairs with a
   * number, or name of a type.
   */
  of(table: CountedTable, value: number | string): number | undefined;
}

export type CountedTable = 'search_token' | 'reference_link' | 'search_number' | 'resource';

export const nothingIsFrequent: Frequencies = { of: () => undefined };

/** Assumed number of resources of a type, if the statistics do not have it. */
const RESOURCES_OF_TYPE = 50_000;

export const resourcesOf = (type: string, frequencies: Frequencies): number =>
  frequencies.of('resource', type) ?? RESOURCES_OF_TYPE;

/** Assumed numbers of rows with a hash that is not frequent (measured with 600 patients). */
const RARE_TOKEN_ROWS = 60;
const RARE_TARGET_ROWS = 200;

/** Assumed row counts of clauses without statistics. They only decide which clause is read first. */
const PREFIX_ROWS = 300;
const CONTAINS_ROWS = 2_000;
const NUMBER_ROWS = 10_000;
const RARE_CODE_ROWS = 1_000;
/** Assumed share of the numbers of a code that are in the searched range. */
const SHARE_OF_RANGE = 0.5;
const DATE_ROWS = 5_000;
const UPDATED_ROWS = 5_000;
const NEAR_ROWS = 500;
const LINKS_PER_TARGET = 20;
const MOST_OF_DEEP_LINKS = 20_000;

/**
 * Estimates how many candidates a clause has if its rows are read first. PostgreSQL cannot choose this clause, since
 * generic plans do not see the values.
 * @returns Infinity if the clause can only test candidates
 */
export function estimateOf(clause: SearchClause, frequencies: Frequencies): number {
  switch (clause.kind) {
    case 'id':
      return clause.ids.length;
    case 'token':
      return sum(clause.tokens.map(({ hash }) => frequencies.of('search_token', hash) ?? RARE_TOKEN_ROWS));
    case 'reference':
      return sum(
        clause.links.map(({ targetHash }) => frequencies.of('reference_link', targetHash) ?? RARE_TARGET_ROWS),
      );
    case 'string':
      return clause.match === 'prefix' ? PREFIX_ROWS : CONTAINS_ROWS;
    case 'number':
      return numbersOf(clause.codeHash, frequencies) * SHARE_OF_RANGE;
    case 'date':
      return clause.isMainDate ? Infinity : DATE_ROWS;
    case 'updated':
      return UPDATED_ROWS;
    case 'near':
      return NEAR_ROWS;
    case 'chain':
      return linked(estimateOf(clause.clause, frequencies) * LINKS_PER_TARGET, clause);
    case 'has':
      return linked(estimateOf(clause.clause, frequencies), clause);
    case 'all': {
      // The updates of a time may be many, so beside other conditions they only test candidates.
      const others = clause.clauses.filter(({ kind }) => kind !== 'updated');
      return Math.min(...others.map((one) => estimateOf(one, frequencies)));
    }
    case 'any':
      return sum(clause.clauses.map((one) => estimateOf(one, frequencies)));
    default:
      return Infinity;
  }
}

const numbersOf = (codeHash: number, frequencies: Frequencies): number =>
  frequencies.of('search_number', codeHash) ?? (codeHash === 0 ? NUMBER_ROWS : RARE_CODE_ROWS);

/**
 * The estimate of a clause with links, capped if links follow links. Each step of links starts from distinct keys, so
 * without the cap following links would seem too expensive.
 */
const linked = (estimate: number, clause: SearchClause): number =>
  isDeep(clause) && Number.isFinite(estimate) ? Math.min(estimate, MOST_OF_DEEP_LINKS) : estimate;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
