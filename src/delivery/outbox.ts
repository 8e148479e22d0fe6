import { Injectable } from '@nestjs/common';
import { assertRightsSql } from '../platform/database/registry-epoch';
import { type Statement, type StatementPart } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { RequestContext } from '../platform/request/request-context';
import { DeliveryWorker } from './delivery-worker';
import { type DeliveryEvent } from './notification-renderer';

export interface NewEvent extends Omit<DeliveryEvent, 'correlationId'> {
  readonly destinationKey: number;
  /** Approximate size that the event will have in a notification. */
  readonly payloadBytes: number;
  /**
   * The rights epoch at which the destination was selected. Each change of rights raises this number in the database.
   * Null if the rights were read from the database for the decision.
   */
  readonly rightsEpoch: number | null;
}

/** Records events in the transaction of the change that causes them, with the correlation id of its request. */
@Injectable()
export class Outbox {
  private readonly gathered = Symbol('outbox');

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly worker: DeliveryWorker,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Records events at the end of the open transaction. By then the transaction holds all its row locks, so a later
   * version of a resource gets a larger event number. Workers are woken after the commit. If rights have changed since
   * the destinations were selected, the transaction restarts.
   */
  append(events: readonly NewEvent[]): void {
    for (const event of events) this.unitOfWork.gather(this.gathered, event, (all) => this.insert(all));
  }

  /**
   * Returns the CTE that records the events of a resource, for the statement that creates it. It needs no row lock,
   * since other transactions cannot use the new id yet.
   * @param events one or more events
   */
  partOf(events: readonly NewEvent[]): Required<StatementPart> {
    return {
      name: 'outbox',
      values: [JSON.stringify(events), oldestEpochOf(events), this.requests.topicCorrelationId],
      sqlOf: appendSql,
      afterCommit: () => {
        this.worker.wake(events.map(({ destinationKey }) => destinationKey));
      },
    };
  }

  private async insert(events: readonly NewEvent[]): Promise<void> {
    const { values, afterCommit } = this.partOf(events);
    await this.statements.run(APPEND, values);
    this.unitOfWork.afterCommit(afterCommit);
  }
}

/** The oldest rights epoch: if rights have not changed since, the decisions made at later epochs are valid too. */
const oldestEpochOf = (events: readonly NewEvent[]): number | null =>
  events.reduce<number | null>(
    (oldest, { rightsEpoch }) => (rightsEpoch === null ? oldest : Math.min(oldest ?? rightsEpoch, rightsEpoch)),
    null,
  );

/**
 * Inserts events in the given order. Fails with a conflict if rights have changed since the rights epoch.
 * @param places the SQL parameters for the events as JSON, for the rights epoch, and for the correlation id
 */
const appendSql = ([events, rightsEpoch, correlationId]: readonly string[]): string =>
  `insert into outbox_event (destination_key, resource_type, resource_id, version, interaction, method, payload_bytes,
      is_undecided, correlation_id)
    select "destinationKey", type, id, version + (${assertRightsSql(`${rightsEpoch}::bigint`)}), interaction, method,
      "payloadBytes", "isUndecided", ${correlationId}::text
    from rows from (json_to_recordset(${events}::json) as ("destinationKey" bigint, type text, id text, version integer,
      interaction text, method text, "payloadBytes" integer, "isUndecided" boolean)) with ordinality event
    order by ordinality`;

const APPEND: Statement = { name: 'delivery-append', text: appendSql(['$1', '$2', '$3']) };
