import { Injectable } from '@nestjs/common';
import { TransactionConflict } from '../../platform/database/database-error';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { ServiceError } from '../../platform/errors/service-error';
import { ResourceCriteria } from '../../search/run/resource-criteria';
import { type LockedResource, ResourceStore } from '../../store/resource-store';
import { type Condition, lockKeyOf } from './condition';

/** A separate statement, so that the next search begins when the locks are held. Locks in the order of the array. */
const LOCK_CONDITIONS: Statement = {
  name: 'resource-lock-conditions',
  text: 'select pg_advisory_xact_lock(k) from unnest($1::bigint[]) k',
  lockKey: 'k::bigint',
};

/** Rows that change between search and lock are searched again; a livelock ends as a conflict of the transaction. */
const MAX_TRIES = 5;

/** Finds matches of conditions and locks them, so that they stay valid until the open unit of work writes. */
@Injectable()
export class ConditionMatches {
  constructor(
    private readonly statements: Statements,
    private readonly criteria: ResourceCriteria,
    private readonly store: ResourceStore,
  ) {}

  /**
   * Serializes the writers of each condition until the unit ends. Locks all at once in one order, which prevents
   * deadlocks.
   */
  async lock(conditions: readonly Condition[]): Promise<void> {
    const keys = [...new Set(conditions.map(lockKeyOf))].sort((a, b) => a - b);
    if (keys.length > 0) await this.statements.run(LOCK_CONDITIONS, [keys]);
  }

  /**
   * Finds and locks the one match; undefined if there is none.
   * @throws ServiceError 'multiple-matches' if there are several
   */
  async holdOne(condition: Condition): Promise<LockedResource | undefined> {
    const [only, ...others] = await this.hold(condition, 2);
    if (others.length > 0) throw multipleMatches(condition.type);
    return only;
  }

  /** Whether there are more than `most` matches. None is locked, so the number may change. */
  areMoreThan(most: number, { type, criteria, reach }: Condition): Promise<boolean> {
    return this.criteria.findsMoreThan(most, type, criteria, reach);
  }

  /** Finds up to `most` matches and locks their rows. */
  async hold({ type, criteria, reach }: Condition, most: number): Promise<LockedResource[]> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const hits = await this.criteria.find(type, criteria, most, reach);
      const held: LockedResource[] = [];
      for (const { id, text } of hits.sort((a, b) => (a.id < b.id ? -1 : 1))) {
        const row = await this.store.lock(type, id);
        // The locked version is the found version, so it still matches.
        if (row?.text === text) held.push(row);
      }
      if (held.length === hits.length) return held;
    }
    throw new TransactionConflict('The matches of a condition kept changing');
  }
}

/** http://hl7.org/fhir/R4/http.html#cond-update */
export const multipleMatches = (type: string): ServiceError =>
  new ServiceError(
    'multiple-matches',
    `Several ${type} resources match: the criteria are not selective enough. Add some, or name one resource by its id.`,
  );
