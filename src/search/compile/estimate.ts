import { type SearchClause } from '../query/search-query';
import { isDeep } from './followed-links';

/** The number of index rows of each hash that occurs often, and the size of each type; undefined for others. */
export interface Frequencies {
  token(hash: number): number | undefined;
  target(hash: number): number | undefined;
  /** Number of the number rows that hold this code, because a composite parameter pairs it with their number. */
  code(hash: number): number | undefined;
  /** Number of resources of a type. */
  type(name: string): number | undefined;
}

export const nothingIsFrequent: Frequencies = {
  token: () => undefined,
  target: () => undefined,
  code: () => undefined,
  type: () => undefined,
};

/** Assumed number of resources of a type, if the statistics do not have it. */
const RESOURCES_OF_TYPE = 50_000;

export const resourcesOf = (type: string, frequencies: Frequencies): number =>
  frequencies.type(type) ?? RESOURCES_OF_TYPE;

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
const LIST_ROWS = 100;
const NEAR_ROWS = 500;
const LINKS_PER_TARGET = 20;
const MOST_OF_DEEP_LINKS = 20_000;

/**
 * Estimates how many candidates a clause has if its rows are read first. PostgreSQL cannot choose this clause, since
 * generic plans do not see the values.
 * @returns undefined if the clause can only test candidates
 */
export function estimateOf(clause: SearchClause, frequencies: Frequencies): number | undefined {
  switch (clause.kind) {
    case 'id':
      return clause.ids.length;
    case 'token':
      return sum(clause.tokens.map(({ hash }) => frequencies.token(hash) ?? RARE_TOKEN_ROWS));
    case 'reference':
      return sum(clause.links.map(({ targetHash }) => frequencies.target(targetHash) ?? RARE_TARGET_ROWS));
    case 'string':
      return clause.match === 'prefix' ? PREFIX_ROWS : CONTAINS_ROWS;
    case 'number':
      return numbersOf(clause.codeHash, frequencies) * SHARE_OF_RANGE;
    case 'date':
      return clause.isMainDate ? undefined : DATE_ROWS;
    case 'near':
      return NEAR_ROWS;
    case 'list':
      return LIST_ROWS;
    case 'chain':
      return linked(scaled(estimateOf(clause.clause, frequencies), LINKS_PER_TARGET), clause);
    case 'has':
      return linked(estimateOf(clause.clause, frequencies), clause);
    case 'all':
      return least(clause.clauses.map((one) => estimateOf(one, frequencies)));
    case 'any': {
      const estimates = clause.clauses.map((one) => estimateOf(one, frequencies));
      return estimates.every((one) => one !== undefined) ? sum(estimates) : undefined;
    }
    default:
      return undefined;
  }
}

const numbersOf = (codeHash: number, frequencies: Frequencies): number =>
  frequencies.code(codeHash) ?? (codeHash === 0 ? NUMBER_ROWS : RARE_CODE_ROWS);

/**
 * The estimate of a clause with links, capped if links follow links. Each step of links starts from distinct keys, so
 * without the cap following links would seem too expensive.
 */
const linked = (estimate: number | undefined, clause: SearchClause): number | undefined =>
  estimate !== undefined && isDeep(clause) ? Math.min(estimate, MOST_OF_DEEP_LINKS) : estimate;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const scaled = (estimate: number | undefined, factor: number): number | undefined =>
  estimate === undefined ? undefined : estimate * factor;

function least(estimates: readonly (number | undefined)[]): number | undefined {
  const known = estimates.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
