import { Injectable } from '@nestjs/common';
import { type ArrayElementType, binaryArray } from '../platform/database/binary-array';
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
  partOf(events: readonly NewEvent[]): StatementPart {
    return {
      name: 'outbox',
      values: this.valuesOf(events),
      sqlOf: appendSql,
      afterCommit: () => {
        this.wakeFor(events);
      },
    };
  }

  private async insert(events: readonly NewEvent[]): Promise<void> {
    await this.statements.run(APPEND, this.valuesOf(events));
    this.unitOfWork.afterCommit(() => {
      this.wakeFor(events);
    });
  }

  private valuesOf(events: readonly NewEvent[]): unknown[] {
    return [...valuesOf(events), this.requests.topicCorrelationId];
  }

  private wakeFor(events: readonly NewEvent[]): void {
    this.worker.wake(events.map(({ destinationKey }) => destinationKey));
  }
}

/** Columns of the queue from events: the array type, and the value of an event. */
const COLUMNS: Readonly<Record<string, readonly [type: ArrayElementType, valueOf: (event: NewEvent) => unknown]>> = {
  destination_key: ['bigint', ({ destinationKey }) => destinationKey],
  resource_type: ['text', ({ type }) => type],
  resource_id: ['text', ({ id }) => id],
  version: ['integer', ({ version }) => version],
  interaction: ['text', ({ interaction }) => interaction],
  method: ['text', ({ method }) => method],
  payload_bytes: ['integer', ({ payloadBytes }) => payloadBytes],
  is_undecided: ['integer', ({ isUndecided }) => Number(isUndecided)],
};

/** The oldest epoch: a decision made under a later one was also valid then, if nothing has changed since. */
const valuesOf = (events: readonly NewEvent[]): unknown[] => [
  ...Object.values(COLUMNS).map(([type, valueOf]) => binaryArray(type, events.map(valueOf))),
  oldestOf(events.flatMap(({ rightsEpoch }) => rightsEpoch ?? [])),
];

const oldestOf = (epochs: readonly number[]): number | null =>
  epochs.length === 0 ? null : epochs.reduce((oldest, epoch) => Math.min(oldest, epoch));

/**
 * Inserts events in the given order: a later version of a resource gets a larger number. If rights have changed since
 * their destinations were selected, it fails with a conflict.
 * @param places of the columns, then of the rights epoch, then of the request's correlation id
 */
function appendSql(places: readonly string[]): string {
  const columns = Object.keys(COLUMNS);
  const arrays = Object.values(COLUMNS).map(([type], index) => `${places[index]}::${type}[]`);
  const checked = assertRightsSql(`${places[columns.length]}::bigint`);
  const correlationId = `${places[columns.length + 1]}::text`;
  const values: Readonly<Record<string, string>> = {
    version: `version + (${checked})`,
    is_undecided: 'is_undecided = 1',
  };
  return `insert into outbox_event (${columns.join(', ')}, correlation_id)
    select ${columns.map((column) => values[column] ?? column).join(', ')}, ${correlationId}
    from unnest(${arrays.join(', ')}) with ordinality event (${columns.join(', ')}, position) order by position`;
}

const APPEND: Statement = {
  name: 'delivery-append',
  text: appendSql([...Object.keys(COLUMNS), 'rights', 'correlation'].map((_column, index) => `$${index + 1}`)),
};
