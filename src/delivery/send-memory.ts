import { EventEmitter, once } from 'node:events';
import { Injectable } from '@nestjs/common';
import { Slots } from '../platform/admission/slots';
import { Background, type BackgroundTask } from '../platform/background/background';
import { Environment } from '../platform/config/environment';
import { DeliveryFailure } from './delivery-failure';

/** A rendered notification that its socket has not yet taken completely. */
export interface HeldBody {
  readonly bytes: Buffer;
  /** When the socket last took 64 kB of it, by a monotonic clock. */
  progressAt: number;
  readonly control: AbortController;
}

/**
 * Destinations whose last attempt failed, or that have no delivered batch yet, may use half of the memory and have a
 * separate queue, so that they do not delay the others.
 */
export type Share = 'all' | 'half';

const STALL_MILLISECONDS = 10_000;
const STALLED = 'The receiver took less than 64 kB in 10 s, and its memory was needed for others';

/** The memory budget for notifications that are rendered but not yet taken by their socket. */
@Injectable()
@Background({ task: 'end of stalled deliveries', interval: () => 1000 })
export class SendMemory implements BackgroundTask {
  private heldBytes = 0;
  private readonly bodies = new Set<HeldBody>();
  private readonly renders: Slots;
  /** Emits `all` or `half` when a destination with this share may render again. */
  private readonly room = new EventEmitter();

  constructor(private readonly environment: Environment) {
    this.renders = new Slots({ permits: Infinity, perCaller: environment.deliverySlots });
    this.room.setMaxListeners(0);
  }

  /** Waits for room, and renders. Only then the size is known, so each slot may exceed the budget by one body. */
  render(share: Share, control: AbortController, render: () => Promise<string>): Promise<HeldBody> {
    const { signal } = control;
    return this.renders.run({ caller: share, signal }, async () => {
      while (this.isFull(share)) await once(this.room, share, { signal });
      const bytes = Buffer.from(await render());
      signal.throwIfAborted();
      const body = { bytes, progressAt: performance.now(), control };
      this.bodies.add(body);
      this.heldBytes += bytes.length;
      return body;
    });
  }

  isFull(share: Share): boolean {
    const { deliveryBufferBytes } = this.environment;
    return this.heldBytes >= (share === 'all' ? deliveryBufferBytes : deliveryBufferBytes / 2);
  }

  release(body: HeldBody): void {
    if (!this.bodies.delete(body)) return;
    this.heldBytes -= body.bytes.length;
    for (const share of ['all', 'half'] as const) if (!this.isFull(share)) this.room.emit(share);
  }

  /** Aborts stalled attempts, the slowest first, as long as other attempts wait for memory. */
  step(): Promise<undefined> {
    const latest = performance.now() - STALL_MILLISECONDS;
    const stalled = [...this.bodies].filter(({ progressAt }) => progressAt <= latest);
    for (const body of stalled.sort((one, other) => one.progressAt - other.progressAt)) {
      if (this.room.eventNames().length === 0) break;
      this.release(body);
      body.control.abort(new DeliveryFailure(STALLED));
    }
    return Promise.resolve(undefined);
  }
}
