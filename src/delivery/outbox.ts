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
  /** Approximate size of the event in a notification. */
  readonly payloadBytes: number;
  /** The rights epoch of the decision to send the event to the destination; null if rights were read for it. */
  readonly rightsEpoch: number | null;
}

/**
 * Records events in the transaction of the change that causes them (interface, "Delivery rules", 1), with the
 * correlation id of its request. A transaction belongs to one request.
 */
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
   * Records events at the end of the open transaction, when it holds every row lock: so a later version of a resource
   * gets a larger number. Wakes workers after the commit. If rights have changed, the transaction restarts.
   */
  append(events: readonly NewEvent[]): void {
    for (const event of events) this.unitOfWork.gather(this.gathered, event, (all) => this.insert(all));
  }

  /**
   * Records events of a resource that the statement creates under a new id, unknown to other transactions.
   * @param events at least one
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

/** The oldest epoch: a decision made under a later one was also valid then, if nothing has changed since. */
const oldestEpochOf = (events: readonly NewEvent[]): number | null =>
  events.reduce<number | null>(
    (oldest, { rightsEpoch }) => (rightsEpoch === null ? oldest : Math.min(oldest ?? rightsEpoch, rightsEpoch)),
    null,
  );

/**
 * Inserts events in the given order: a later version of a resource gets a larger number. If rights have changed since
 * their destinations were selected, it fails with a conflict.
 * @param places of the events as JSON, of the rights epoch, and of the request's correlation id
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
