import { createHash } from 'node:crypto';
import { type ModuleRef } from '@nestjs/core';
import { DeliveryFailure } from './delivery-failure';
import { type Notification, type Outgoing } from './delivery-kind';
import { type DeliveryBatch, rendererIn } from './notification-renderer';
import { type HeldBody, type SendMemory, type Share } from './send-memory';

export interface Sending {
  readonly share: Share;
  /** The result of `read`, if it is in memory. An attempt that must wait for memory drops it and reads it again. */
  content?: DeliveryBatch | undefined;
  readonly read: () => Promise<DeliveryBatch>;
  /** How long the receiver may take to connect, to take the body, and to respond, all together. */
  readonly seconds: number;
  readonly control: AbortController;
  readonly traceparent?: Outgoing['traceparent'];
}

/**
 * How long an attempt may wait for memory, in addition to its timeout. It is shorter than `LEASE_GRACE_SECONDS`, and
 * longer than a receiver may stall: a stalled attempt fails before those that wait for its memory.
 */
const PREPARE_MILLISECONDS = 12_000;
const BUSY = 'The server had no memory free to send within 12 s: other receivers are slow';

/** A batch during one attempt. Its body is in memory from rendering until the socket has taken it. */
export class OutgoingBatch implements Outgoing {
  readonly traceparent: string | undefined;
  private body: HeldBody | undefined;
  private timer: NodeJS.Timeout | undefined;
  private millisecondsLeft: number;
  /** When the timeout of the receiver was last started, by a monotonic clock. */
  private startedAt = 0;
  private isOver = false;

  constructor(
    private readonly sending: Sending,
    private readonly memory: SendMemory,
    private readonly modules: ModuleRef,
  ) {
    this.traceparent = sending.traceparent;
    this.millisecondsLeft = sending.seconds * 1000;
    this.startTime();
  }

  async render(): Promise<Notification> {
    const { sending, memory } = this;
    this.releaseBody();
    if (memory.isFull(sending.share)) sending.content = undefined;
    this.millisecondsLeft -= performance.now() - this.startedAt;
    this.abortAfter(PREPARE_MILLISECONDS, BUSY);
    const body = await memory.render(sending.share, sending.control, async () => {
      const content = sending.content ?? (await sending.read());
      sending.content = undefined;
      return rendererIn(this.modules).render(content);
    });
    this.body = body;
    if (this.isOver) this.release();
    else this.startTime();
    return { id: notificationIdOf(body.bytes), body: body.bytes };
  }

  progress(): void {
    if (this.body !== undefined) this.body.progressAt = performance.now();
  }

  release(): void {
    this.sending.content = undefined;
    this.releaseBody();
  }

  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.release();
  }

  private releaseBody(): void {
    if (this.body !== undefined) this.memory.release(this.body);
    this.body = undefined;
  }

  private startTime(): void {
    this.startedAt = performance.now();
    this.abortAfter(this.millisecondsLeft, `No answer within ${this.sending.seconds} s`);
  }

  private abortAfter(milliseconds: number, message: string): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.sending.control.abort(new DeliveryFailure(message));
    }, milliseconds);
  }
}

/**
 * Returns the id of a notification: a hash of its body. A receiver may ignore an id that it already has, since the
 * bodies of different batches differ: they contain the destination and the event numbers.
 */
const notificationIdOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex').slice(0, 32);
