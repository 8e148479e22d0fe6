import { Injectable } from '@nestjs/common';
import { SecretBox } from '../platform/crypto/secret-box';
import { type DeliveryKind, DeliveryKinds, type DeliverySettings, type Outgoing } from './delivery-kind';
import { DeliveryFailure } from './delivery-failure';
import { type ClaimedBatch, DeliveryQueue } from './delivery-queue';
import { NotificationRenderers } from './notification-renderer';
import { type AttemptTime, type BatchSource, OutgoingBatch } from './outgoing-batch';
import { SendMemory } from './send-memory';

/** A kind, and one destination's settings for it. */
export interface DeliveryWay {
  readonly handler: DeliveryKind;
  readonly settings: DeliverySettings;
}

/** Sends a batch once, by its kind and within its timeout. */
@Injectable()
export class BatchSender {
  /** Decrypted settings, keyed by the sealed bytes: consecutive batches share them. */
  private readonly opened = new WeakMap<Buffer, DeliverySettings>();

  constructor(
    private readonly kinds: DeliveryKinds,
    private readonly renderers: NotificationRenderers,
    private readonly secrets: SecretBox,
    private readonly queue: DeliveryQueue,
    private readonly memory: SendMemory,
  ) {}

  /**
   * Returns the receiver's response, for the timeline.
   * @throws the error that ended the attempt, or the abort reason of `control`.
   */
  async send(batch: ClaimedBatch, control: AbortController, traceparent?: string): Promise<string> {
    const way = { handler: this.handlerOf(batch.kind), settings: this.settingsOf(batch.sealedSettings) };
    return this.sendBy(way, this.sourceOf(batch), { seconds: batch.timeoutSeconds, control, traceparent });
  }

  /** Like {@link send}, for content outside the queue. */
  async sendBy({ handler, settings }: DeliveryWay, source: BatchSource, time: AttemptTime): Promise<string> {
    const answer = await this.exchange(source, time, (outgoing) =>
      handler.send(outgoing, settings, time.control.signal),
    );
    return typeof answer === 'string' ? answer : 'Delivered';
  }

  /**
   * Passes a batch to `send`, within the timeout.
   * @throws the error that ended it, or the abort reason of the control.
   */
  async exchange<T>(source: BatchSource, time: AttemptTime, send: (outgoing: Outgoing) => Promise<T>): Promise<T> {
    const { signal } = time.control;
    signal.throwIfAborted();
    const outgoing = new OutgoingBatch(source, this.memory, this.renderers, time);
    try {
      return await send(outgoing);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      outgoing.end();
    }
  }

  /** @throws DeliveryFailure when no module provides the kind any more */
  handlerOf(kind: string): DeliveryKind {
    const found = this.kinds.find(kind);
    if (found === undefined) throw new DeliveryFailure(`No module of this server delivers by "${kind}"`);
    return found.handler;
  }

  settingsOf(sealed: Buffer): DeliverySettings {
    const settings = this.opened.get(sealed) ?? (JSON.parse(this.secrets.open(sealed).toString()) as DeliverySettings);
    this.opened.set(sealed, settings);
    return settings;
  }

  /** Moves the content out of the batch, which stays in memory as long as its attempt. */
  private sourceOf(batch: ClaimedBatch): BatchSource {
    const { content } = batch;
    delete batch.content;
    const isProven = batch.failStreak === 0 && batch.firstNumber > 1;
    return { share: isProven ? 'all' : 'half', content, read: () => this.queue.read(batch) };
  }
}
