import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type Statement } from '../platform/database/statement';

/** A recorded change: resource, version and interaction. */
export interface DeliveryEvent {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly interaction: string;
  readonly method: string;
  /** Whether the criterion could not be evaluated. The event is delivered anyway, so none is lost. */
  readonly isUndecided: boolean;
  /** The value of `SVC_TOPIC_CORRELATION_HEADER` in the request that caused it. */
  readonly correlationId?: string | undefined;
}

/** Values for rendering a batch, in addition to its events; fixed when it is opened. */
export interface BatchOrigin {
  /** `BASE_URL` of the server that opened it. */
  readonly baseUrl: string;
  /** A UUID: event numbers are unique within it (ADR 0036). */
  readonly generation: string;
}

export interface DeliveryBatch {
  /** The rows of {@link NotificationRenderer.statementFor}; absent if it was not run when the batch was opened. */
  readonly material?: readonly object[] | undefined;
  readonly destinationId: string;
  /** The presentation of the destination when the batch was opened, as given to `Destinations.save`. */
  readonly presentation: string;
  readonly createdAt: Date;
  /** Null for batches of older servers and for the sample of a test: then `BASE_URL` of this server applies. */
  readonly origin: BatchOrigin | null;
  /** Number of the first event; the others follow without gaps. */
  readonly firstNumber: number;
  readonly events: readonly DeliveryEvent[];
}

/**
 * Renders a batch as JSON text. The same batch must always give the same text: a retry sends the same bytes. The module
 * that provides it depends on delivery, which does not depend on resources.
 */
export abstract class NotificationRenderer {
  /**
   * A statement on the events of the batch (`OPEN_EVENTS`), run in the pipelined round trip that opens it; undefined if
   * none is needed.
   */
  abstract statementFor(presentation: string): Statement | undefined;
  abstract render(batch: DeliveryBatch): Promise<string>;
}

/** Finds the renderer at its first use, since modules that depend on delivery are built after it. */
@Injectable()
export class NotificationRenderers {
  constructor(private readonly modules: ModuleRef) {}

  get only(): NotificationRenderer {
    return this.modules.get(NotificationRenderer, { strict: false });
  }
}
