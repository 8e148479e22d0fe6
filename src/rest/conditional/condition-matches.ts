import { Injectable } from '@nestjs/common';
import { TransactionConflict } from '../../platform/database/database-error';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { ServiceError } from '../../platform/errors/service-error';
import { ResourceCriteria } from '../../search/run/resource-criteria';
import { type LockedResource, ResourceStore } from '../../store/resource-store';
import { type Condition, lockKeyOf } from './condition';

/**
 * Locks conditions in the order of the array. It is a separate statement, so that the next search begins when the locks
 * are held.
 */
const LOCK_CONDITIONS: Statement = {
  name: 'resource-lock-conditions',
  text: 'select pg_advisory_xact_lock(k) from unnest($1::bigint[]) k',
  lockKey: 'k::bigint',
};

/**
 * Maximum number of searches for one condition. If a found row changed before it was locked, the condition is searched
 * again. After this many searches the transaction ends with a conflict.
 */
const MAX_TRIES = 5;

/** Finds the matches of conditions and locks them. So they still match when the open unit of work writes. */
@Injectable()
export class ConditionMatches {
  constructor(
    private readonly statements: Statements,
    private readonly criteria: ResourceCriteria,
    private readonly store: ResourceStore,
  ) {}

  /**
   * Locks conditions until the unit of work ends, so that writers with the same condition run one after the other. All
   * are locked at once, in one order, which prevents deadlocks.
   */
  async lock(conditions: readonly Condition[]): Promise<void> {
    const keys = [...new Set(conditions.map(lockKeyOf))].sort((a, b) => a - b);
    if (keys.length > 0) await this.statements.run(LOCK_CONDITIONS, [keys]);
  }

  /**
   * Finds and locks the only match; undefined if nothing matches.
   * @throws ServiceError 'multiple-matches' if several resources match
   */
  async holdOne(condition: Condition): Promise<LockedResource | undefined> {
    return onlyMatch(condition.type, await this.hold(condition, 2));
  }

  /** Whether there are more than `most` matches. No match is locked, so their number may change. */
  areMoreThan(most: number, { type, criteria, reach }: Condition): Promise<boolean> {
    return this.criteria.findsMoreThan(most, type, criteria, reach);
  }

  /**
   * Finds up to `most` matches and locks their rows.
   * @param isBrief whether the matches are dropped before the next call. Then fewer are enough if they are long
   */
  async hold({ type, criteria, reach }: Condition, most: number, isBrief = false): Promise<LockedResource[]> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const hits = await this.criteria.findWithin(reach, type, criteria, most, isBrief);
      const held: LockedResource[] = [];
      for (const { id, text } of hits.sort((a, b) => (a.id < b.id ? -1 : 1))) {
        const row = await this.store.lock(type, id);
        // If the locked version is the one that was found, it still matches.
        if (row?.text === text) held.push(row);
      }
      if (held.length === hits.length) return held;
    }
    throw new TransactionConflict('The matches of a condition kept changing');
  }
}

/** The error for a patch by a condition without a match (http://hl7.org/fhir/R4/http.html#patch). */
export const noMatch = (type: string): ServiceError =>
  new ServiceError('no-match', `No ${type} matches the criteria. Try them with GET /${type}?{criteria}.`);

/**
 * The only match of a condition (http://hl7.org/fhir/R4/http.html#cond-update); undefined if nothing matches.
 * @throws ServiceError 'multiple-matches' if several resources match
 */
export function onlyMatch<Match>(type: string, [only, ...others]: readonly Match[]): Match | undefined {
  if (others.length === 0) return only;
  throw new ServiceError(
    'multiple-matches',
    `Several ${type} resources match: the criteria are not selective enough. Add some, or name one resource by its id.`,
  );
}
