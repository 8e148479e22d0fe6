import { type SearchClause } from '../query/search-query';
import { isDeep } from './followed-links';

/** How many rows frequent hashes have; undefined for those that are not among the frequent ones. */
export interface Frequencies {
  token(hash: number): number | undefined;
  target(hash: number): number | undefined;
  /** Numbers that are paired with a code. */
  code(hash: number): number | undefined;
  /** Resources of a type. */
  type(name: string): number | undefined;
}

export const nothingIsFrequent: Frequencies = {
  token: () => undefined,
  target: () => undefined,
  code: () => undefined,
  type: () => undefined,
};

/** Where the number of all resources of a type is not known. */
const RESOURCES_OF_TYPE = 50_000;

export const resourcesOf = (type: string, frequencies: Frequencies): number =>
  frequencies.type(type) ?? RESOURCES_OF_TYPE;

/** A hash that is not among the frequent ones has about as many rows (measured on charts of 600 patients). */
const RARE_TOKEN_ROWS = 60;
const RARE_TARGET_ROWS = 200;

/** Guesses for what no statistics are kept of; they only rank drivers among each other. */
const PREFIX_ROWS = 300;
const CONTAINS_ROWS = 2_000;
const NUMBER_ROWS = 10_000;
const RARE_CODE_ROWS = 1_000;
/** Half of the rows of a code are in a range. */
const SHARE_OF_RANGE = 0.5;
const DATE_ROWS = 5_000;
const LIST_ROWS = 100;
const NEAR_ROWS = 500;
const LINKS_PER_TARGET = 20;
const MOST_OF_DEEP_LINKS = 20_000;

/**
 * About how many candidates a clause would yield if it drove the search: PostgreSQL cannot choose, since the plans are
 * generic and do not know the values.
 * @returns undefined when the clause can only test candidates
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

/** The keys of each further step are distinct, so the guess must not grow until following the links seems too dear. */
const linked = (estimate: number | undefined, clause: SearchClause): number | undefined =>
  estimate !== undefined && isDeep(clause) ? Math.min(estimate, MOST_OF_DEEP_LINKS) : estimate;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const scaled = (estimate: number | undefined, factor: number): number | undefined =>
  estimate === undefined ? undefined : estimate * factor;

function least(estimates: readonly (number | undefined)[]): number | undefined {
  const known = estimates.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
