import { Injectable, Logger } from '@nestjs/common';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';

/** A floor that is raised costs a row version, one that is not costs a look at that many deleted rows. */
const LEAST_STEP = 1000;

/** The largest number that an event was given, committed or not. */
const READ_ISSUED: Statement = {
  name: 'delivery-read-issued',
  text: 'select case when is_called then last_value else 0 end as issued from outbox_event_event_id_seq',
};

/** Transactions that may have given numbers to events: they hold this lock from before the first number to their end. */
const READ_WRITERS: Statement = {
  name: 'delivery-read-writers',
  text: `select distinct virtualtransaction as writer from pg_locks
    where locktype = 'relation' and relation = 'outbox_event'::regclass
      and database = (select oid from pg_database where datname = current_database())
      and mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`,
};

const READ_LIVING: Statement = {
  name: 'delivery-read-living',
  text: `select from pg_locks where locktype = 'virtualxid' and virtualxid = any($1) limit 1`,
};

/** Every number up to $1 is decided before this begins, so what it does not see there will never come. */
const RAISE: Statement = {
  name: 'delivery-raise-floors',
  text: `with reachable as materialized (
      select r.destination_key, coalesce((select e.event_id - 1 from outbox_event e
        where e.destination_key = r.destination_key and e.event_id > r.floor_event_id and e.event_id <= $1
        order by e.event_id limit 1), $1) as floor_event_id
      from destination_runtime r where r.floor_event_id + ${LEAST_STEP} <= $1
    ), rising as (
      select r.destination_key, reachable.floor_event_id
      from destination_runtime r join reachable on reachable.destination_key = r.destination_key
      where r.floor_event_id + ${LEAST_STEP} <= reachable.floor_event_id
      order by r.destination_key for update of r skip locked
    )
    update destination_runtime r set floor_event_id = rising.floor_event_id
    from rising where r.destination_key = rising.destination_key`,
};

/** For a sequence that was set back, as by a move to another database that forgot it: events may be below floors again. */
const LOWER: Statement = {
  name: 'delivery-lower-floors',
  text: `update destination_runtime set floor_event_id = 0
    where floor_event_id > (select last_value from outbox_event_event_id_seq) returning destination_id`,
};

/**
 * Says from where on a queue has to be read. Rows that are deleted stay in the index until they are vacuumed, which a long
 * transaction elsewhere (a backup) puts off: a queue that is read from its beginning gets slower with each event that was
 * delivered meanwhile. A number that somebody delivered is no such mark, as transactions commit in another order than they
 * take numbers. So: note the largest number and who writes events then, wait until these are over, and look what is left.
 */
@Injectable()
export class QueueFloors {
  private readonly logger = new Logger(QueueFloors.name);
  private issued = Infinity;
  /** No transaction that took a number up to it is under way. */
  private decided = 0;
  private noted: { readonly issued: number; readonly writers: readonly string[] } | undefined;

  constructor(private readonly statements: Statements) {}

  /** Goes on where the last call ended; to be called about once a second. */
  async raise(): Promise<void> {
    if (this.noted !== undefined && !(await this.isAnyAlive(this.noted.writers))) {
      this.decided = this.noted.issued;
      this.noted = undefined;
    }
    if (this.decided > 0) await this.statements.run(RAISE, [this.decided]);
    const issued = (await this.statements.runOne<{ issued: number }>(READ_ISSUED, []))?.issued ?? 0;
    if (issued < this.issued) await this.lower();
    this.issued = issued;
    // In this order: who took a number after the first look may be missing in the second.
    if (issued > this.decided) this.noted ??= { issued, writers: await this.writers() };
  }

  private async isAnyAlive(writers: readonly string[]): Promise<boolean> {
    return writers.length > 0 && (await this.statements.run(READ_LIVING, [writers])).length > 0;
  }

  private async writers(): Promise<readonly string[]> {
    return (await this.statements.run<{ writer: string }>(READ_WRITERS, [])).map(({ writer }) => writer);
  }

  private async lower(): Promise<void> {
    this.decided = 0;
    this.noted = undefined;
    const lowered = await this.statements.run(LOWER, []);
    if (lowered.length > 0) {
      this.logger.warn(
        `The sequence of events was set back. The queues of ${lowered.length} destinations are read from their beginning again.`,
      );
    }
  }
}
