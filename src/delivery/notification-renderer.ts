import { type ModuleRef } from '@nestjs/core';
import { type Statement } from '../platform/database/statement';

/** A recorded event: the changed resource, its version and the interaction. */
export interface DeliveryEvent {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly interaction: string;
  readonly method: string;
  /** Whether the criterion could not be evaluated. The event is delivered anyway, so that no event is lost. */
  readonly isUndecided: boolean;
  /** The value of the header `SVC_TOPIC_CORRELATION_HEADER` in the request that caused the event. */
  readonly correlationId?: string | undefined;
}

/** Values that the renderer needs in addition to the events. They are fixed when the batch is opened. */
export interface BatchOrigin {
  /** `BASE_URL` of the server that opened the batch. */
  readonly baseUrl: string;
  /** The generation, a UUID. Event numbers are unique within a generation (ADR 0036). */
  readonly generation: string;
}

export interface DeliveryBatch {
  /** The rows of {@link NotificationRenderer.statementFor}, if it was run when the batch was opened. */
  readonly material?: readonly object[] | undefined;
  readonly destinationId: string;
  /** The presentation of the destination, as given to `Destinations.save`, when the batch was opened. */
  readonly presentation: string;
  readonly createdAt: Date;
  /** Null for batches of older servers and for the sample of a test: then `BASE_URL` of this server is used. */
  readonly origin: BatchOrigin | null;
  /** Number of the first event. The numbers of the other events follow without gaps. */
  readonly firstNumber: number;
  readonly events: readonly DeliveryEvent[];
}

/**
 * Renders a batch as JSON text. The same batch must always give the same text, since a retry sends the same bytes.
 * Another module provides the renderer: delivery does not depend on resources.
 */
export abstract class NotificationRenderer {
  /** Returns a statement that reads what `render` needs for the events of a batch (`OPEN_EVENTS`), if anything. */
  abstract statementFor(presentation: string): Statement | undefined;
  abstract render(batch: DeliveryBatch): Promise<string>;
}

/** Finds the renderer. It cannot be injected, since its module depends on this one and is created later. */
export const rendererIn = (modules: ModuleRef): NotificationRenderer =>
  modules.get(NotificationRenderer, { strict: false });
