import { type DateClause, type SearchClause } from '../query/search-query';
import { estimateOf, type Frequencies, resourcesOf } from './estimate';
import { isLink, type LinkClause } from './followed-links';

/** A clause whose index rows are read first, and the estimated number of these rows. */
export interface Driver {
  readonly clause: SearchClause;
  readonly estimate: number;
}

export interface Drivers {
  /** The clause to read in index order: its index holds its rows by main date. */
  readonly ordered: Driver | undefined;
  /** The clauses to gather: if the first has too many rows, the second is tried. */
  readonly gathered: readonly GatheredDriver[];
}

export interface GatheredDriver extends Driver {
  /** Maximum number of candidates to gather; with more, the statement follows the order of an index. */
  readonly most: number;
}

const MOST_GATHERED = 1_000;

/**
 * If the clause read in index order has fewer candidates than this, gathering those of another clause costs more than
 * it saves.
 */
const WORTH_GATHERING = 300;

/** Up to this many numbers of a code are read by date; with more, those in the range are gathered first. */
const FEW_OF_CODE = 1_000;

/** A clause with more estimated rows than this is not gathered. */
const DEAREST_GATHERING = 20_000;

/**
 * Maximum number of estimated rows for gathering a clause that follows a link to a resource with a token. Statistics of
 * the token show in advance if there are more.
 */
const MOST_FOLLOWED = 3_000;

/** Up to this many candidates, the index of the clause is read without limits on the main date. */
const WORTH_BOUNDING = 2_000;

/** Assumed largest share of the rows of a token that belong to one patient. */
const SHARE_OF_PATIENT = 0.1;

/**
 * Chooses, by estimated rows, the clause to read in index order and the clauses to gather: none if gathering costs more
 * than it saves.
 */
export function driversOf(
  type: string,
  clauses: readonly SearchClause[],
  frequencies: Frequencies,
  isPage: boolean,
): Drivers {
  const ordered = orderedDriverOf(clauses, frequencies);
  const resources = resourcesOf(type, frequencies);
  const isWorthIt = ({ clause, estimate }: Driver): boolean =>
    ordered === undefined ||
    (clause === ordered.clause
      ? ordered.estimate > FEW_OF_CODE
      : ordered.estimate > WORTH_GATHERING &&
        (leadsToRange(clause) || (isPage && !followsToken(clause)) || estimate < ordered.estimate));
  const [first, ...others] = gatheredDriversOf(clauses, frequencies, isPage);
  const chosen = first !== undefined && isWorthIt(first) ? [first, ...others.filter(isWorthIt).slice(0, 1)] : [];
  const nearby = Math.max(Math.sqrt(20 * resources), MOST_GATHERED);
  const walked = ordered?.estimate ?? (clauses.some(isMainDate) ? nearby : resources);
  const gathered = chosen.map((driver) => ({
    ...driver,
    most: Math.round(mostGatheredOf(driver, nearby, isPage ? undefined : walked)),
  }));
  return { ordered, gathered };
}

/** @param walked estimated number of rows that a total reads in index order; undefined for a page */
function mostGatheredOf({ clause, estimate }: Driver, nearby: number, walked: number | undefined): number {
  switch (clause.kind) {
    case 'number':
      return mostNumbers(estimate);
    case 'updated':
      return walked ?? nearby;
    default:
      return walked ?? MOST_GATHERED;
  }
}

/**
 * The number of numbers up to which they are gathered by value. Reading a number of the range by value costs a third of
 * a microsecond; reading a number of the code by date costs a tenth. The fewer numbers are in the range, the more a
 * walk by date must pass. At this number, a page of 20 costs the same either way.
 */
const mostNumbers = (estimate: number): number =>
  Math.min(Math.max(Math.round(Math.sqrt(6 * estimate)), 100), MOST_GATHERED);

/** Whether the driver is read only between the limits of the searched main date. */
export const isByDate = (clauses: readonly SearchClause[], driver: Driver | undefined): boolean =>
  clauses.some(isMainDate) && (driver === undefined || driver.estimate > WORTH_BOUNDING);

export const isMainDate = (clause: SearchClause): clause is DateClause => clause.kind === 'date' && clause.isMainDate;

export const patientAmong = (clauses: readonly SearchClause[]): SearchClause | undefined =>
  clauses.find((clause) => clause.kind === 'reference' && clause.patientHash !== undefined);

function orderedDriverOf(clauses: readonly SearchClause[], frequencies: Frequencies): Driver | undefined {
  const patient = patientAmong(clauses);
  const estimated = clauses.filter(isOrdered).map((clause): Driver => {
    const rows = estimateOf(clause, frequencies);
    if (patient === undefined || clause.kind !== 'token') return { clause, estimate: rows };
    return { clause, estimate: Math.min(rows, estimateOf(patient, frequencies)) * SHARE_OF_PATIENT };
  });
  return estimated.toSorted(byEstimate)[0];
}

/** The clauses that can be gathered, those with the fewest estimated rows first. */
function gatheredDriversOf(
  clauses: readonly SearchClause[],
  frequencies: Frequencies,
  isPage: boolean,
): readonly Driver[] {
  return clauses
    .filter(({ kind }) => kind !== 'token' && kind !== 'reference')
    .map((clause): Driver => ({ clause, estimate: estimateOf(clause, frequencies) }))
    .filter(({ clause, estimate }) => {
      const most = isPage && followsToken(clause) ? MOST_FOLLOWED : DEAREST_GATHERING;
      return estimate <= most || clause.kind === 'number' || leadsToRange(clause);
    })
    .toSorted(byEstimate);
}

const byEstimate = (one: Driver, other: Driver): number => one.estimate - other.estimate;

const isOrdered = ({ kind }: SearchClause): boolean => kind === 'token' || kind === 'reference' || kind === 'number';

/** Whether the clause is a link to a number or to a time of update. No statistics show how many are in a range. */
export const leadsToRange = (clause: SearchClause): clause is LinkClause =>
  isLink(clause) && (clause.clause.kind === 'number' || clause.clause.kind === 'updated');

const followsToken = (clause: SearchClause): boolean => isLink(clause) && clause.clause.kind === 'token';
