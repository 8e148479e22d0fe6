import { Injectable } from '@nestjs/common';
import { binaryArray } from '../platform/database/binary-array';
import { type StatementPart } from '../platform/database/statement-part';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { RequestContext } from '../platform/http/request-context';
import { APPEND, NEW_EVENT_COLUMNS, appendSql } from './delivery-statements';
import { DeliveryWorker } from './delivery-worker';
import { type DeliveryEvent } from './notification-renderer';

export interface NewEvent extends Omit<DeliveryEvent, 'correlationId'> {
  readonly destinationKey: number;
  /** About what the event adds to a notification. */
  readonly payloadBytes: number;
  /** The epoch of rights by which it was decided that the destination hears of it; null where they were read for it. */
  readonly rightsEpoch: number | null;
}

/**
 * Where events enter: in the transaction of the change that causes them (interface, "Delivery rules", 1), with the
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
   * Records events at the end of the open transaction, when it holds every row lock: so of one resource the later
   * version gets the larger number. Workers are woken after the commit. The transaction starts over where rights have changed.
   */
  append(events: readonly NewEvent[]): void {
    for (const event of events) this.unitOfWork.gather(this.gathered, event, (all) => this.insert(all));
  }

  /**
   * Records events of a resource that the statement creates under a new id, which nobody else can know yet.
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

const VALUE_OF: Readonly<Record<keyof typeof NEW_EVENT_COLUMNS, (event: NewEvent) => unknown>> = {
  destination_key: ({ destinationKey }) => destinationKey,
  resource_type: ({ type }) => type,
  resource_id: ({ id }) => id,
  version: ({ version }) => version,
  interaction: ({ interaction }) => interaction,
  method: ({ method }) => method,
  payload_bytes: ({ payloadBytes }) => payloadBytes,
  is_undecided: ({ isUndecided }) => Number(isUndecided),
};

/** The oldest epoch: what was decided by a later one held then, too, if nothing has changed since. */
const valuesOf = (events: readonly NewEvent[]): unknown[] => [
  ...columns.map((column) => binaryArray(NEW_EVENT_COLUMNS[column], events.map(VALUE_OF[column]))),
  oldestOf(events.flatMap(({ rightsEpoch }) => rightsEpoch ?? [])),
];

const oldestOf = (epochs: readonly number[]): number | null =>
  epochs.length === 0 ? null : epochs.reduce((oldest, epoch) => Math.min(oldest, epoch));

const columns = Object.keys(NEW_EVENT_COLUMNS) as (keyof typeof NEW_EVENT_COLUMNS)[];
