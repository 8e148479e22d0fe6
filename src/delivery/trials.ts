import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { ServiceError } from '../platform/errors/service-error';
import { Clock } from '../platform/time/clock';
import { BatchSender, type DeliveryWay } from './batch-sender';
import { DeliveryFailure } from './delivery-failure';
import { type Finding, type ShownRequest } from './delivery-kind';
import { type BatchRow, batchIn } from './batch-row';
import { type DestinationRuntime, Destinations } from './destinations';
import { type DeliveryBatch } from './notification-renderer';
import { type Sending } from './outgoing-batch';
import { type EventRange, rangeValues } from './timeline';
import { READ_DELIVERED, READ_LATEST } from './timeline-statements';

const MAX_BATCHES = 50;
/** Maximum duration of one attempt, even if its destination allows longer ones, and of all attempts of a call. */
const MAX_SECONDS = 30;

/** The numbers of the first and the last event of a batch. */
interface EventNumbers {
  readonly from: number;
  readonly to: number;
}

interface TriedBatch extends EventNumbers {
  readonly delivered: boolean;
  readonly outcome: string;
}

/** Makes test deliveries while the caller waits. They use no queue, and do not count for the destination. */
@Injectable()
export class Trials {
  constructor(
    private readonly destinations: Destinations,
    private readonly statements: Statements,
    private readonly sender: BatchSender,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends the delivered events of a range to another endpoint, in their original batches. Each batch is sent once. The
   * call ends when a batch fails or the time is over.
   * @returns the batches that were sent and, if not all were sent, the event number to continue from
   */
  async sendElsewhere(
    destinationId: string,
    range: EventRange,
    endpoint: string,
  ): Promise<{ readonly batch: readonly TriedBatch[]; readonly next?: number }> {
    const runtime = await this.destinations.read(destinationId);
    const way = this.wayOf(runtime, endpoint);
    const values = rangeValues(runtime.destinationKey, MAX_BATCHES + 1, range);
    const rows = await this.statements.run<BatchRow>(READ_DELIVERED, values);
    const endsAt = performance.now() + MAX_SECONDS * 1000;
    const batch: TriedBatch[] = [];
    for (const row of rows) {
      if (batch.length === MAX_BATCHES || performance.now() > endsAt) return { batch, next: row.first_number };
      const tried = await this.send(batchIn(row, runtime), way);
      batch.push(tried);
      if (!tried.delivered) return { batch, next: row.first_number };
    }
    return { batch };
  }

  /**
   * Returns the request that contains the event with this number (by default the latest event), without secrets.
   * @returns undefined if no batch with this event is kept
   * @throws ServiceError 'unprocessable' for a kind that shows no request
   */
  async requestOf(
    destinationId: string,
    number: number | undefined,
  ): Promise<(ShownRequest & EventNumbers) | undefined> {
    const runtime = await this.destinations.read(destinationId);
    const values = [runtime.destinationKey, 1, null, null, number, number, null];
    const row = await this.statements.runOne<BatchRow & { readonly presentation: string | null }>(READ_LATEST, values);
    if (row === undefined) return undefined;
    const way = this.wayOf(runtime, undefined);
    const show = way.handler.shown?.bind(way.handler);
    if (show === undefined)
      throw new ServiceError('request-not-shown', `A destination of kind ${runtime.kind} shows no request.`);
    const batch = batchIn(row, { destinationId, presentation: row.presentation ?? runtime.presentation });
    const request = await this.sender.exchange(sendingOf(batch, way), (outgoing) => show(outgoing, way.settings));
    return { ...request, ...numbersOf(batch) };
  }

  /** Sends a sample without events to `endpoint`, by default the configured one, and grades the responses. */
  async test(destinationId: string, endpoint: string | undefined): Promise<readonly Finding[]> {
    const runtime = await this.destinations.read(destinationId);
    const way = this.wayOf(runtime, endpoint);
    const { presentation, nextEventNumber: firstNumber } = runtime;
    const sample = { destinationId, presentation, firstNumber, createdAt: this.clock.now(), origin: null, events: [] };
    const probe = way.handler.probe?.bind(way.handler);
    if (probe === undefined) {
      const { delivered, outcome } = await this.send(sample, way);
      return [{ name: 'answer', grade: delivered ? 'pass' : 'fail', message: outcome }];
    }
    return this.sender.exchange(sendingOf(sample, way), (outgoing, signal) => probe(outgoing, way.settings, signal));
  }

  private async send(batch: DeliveryBatch, way: DeliveryWay): Promise<TriedBatch> {
    try {
      const outcome = await this.sender.sendBy(way, sendingOf(batch, way));
      return { ...numbersOf(batch), delivered: true, outcome };
    } catch (error) {
      if (!(error instanceof DeliveryFailure)) throw error;
      return { ...numbersOf(batch), delivered: false, outcome: error.message };
    }
  }

  private wayOf(runtime: DestinationRuntime, endpoint: string | undefined): DeliveryWay {
    const way = this.sender.wayOf(runtime);
    if (endpoint === undefined) return way;
    const { handler, settings } = way;
    if (handler.redirected === undefined) {
      const message = `A destination of kind ${runtime.kind} has no other endpoint to be tried with.`;
      throw new ServiceError('unprocessable', message, { expression: 'endpoint' });
    }
    return { handler, settings: handler.redirected(settings, endpoint) };
  }
}

const numbersOf = ({ firstNumber: from, events }: DeliveryBatch): EventNumbers => ({
  from,
  to: from + events.length - 1,
});

const sendingOf = (batch: DeliveryBatch, { settings }: DeliveryWay): Sending => ({
  share: 'all',
  read: () => Promise.resolve(batch),
  seconds: Math.min(settings.timeoutSeconds, MAX_SECONDS),
  control: new AbortController(),
});
