import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SecretBox } from '../platform/crypto/secret-box';
import { type DeliveryKind, type DeliverySettings, type Notification } from './delivery-kind';
import { DeliveryKinds } from './delivery-kind.registry';
import { DeliveryFailure } from './delivery-failure';
import { type ClaimedBatch } from './delivery-queue';
import { type DeliveryBatch, NotificationRenderers } from './notification-renderer';

/** Renders a batch and sends it once, by its kind and within its time. */
@Injectable()
export class BatchSender {
  /** Opened settings by what was sealed: batches that follow each other share it. */
  private readonly opened = new WeakMap<Buffer, DeliverySettings>();

  constructor(
    private readonly kinds: DeliveryKinds,
    private readonly renderers: NotificationRenderers,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Returns what the receiver answered, for the timeline.
   * @throws whatever ended the attempt; the reason of `attempt` when that was aborted.
   */
  async send(batch: ClaimedBatch, attempt: AbortController): Promise<string> {
    const handler = this.handlerOf(batch.kind);
    const settings = this.settingsOf(batch.sealedSettings);
    const answer = await this.exchange(batch, { seconds: batch.timeoutSeconds, control: attempt }, (notification) =>
      handler.send(notification, settings, attempt.signal),
    );
    return typeof answer === 'string' ? answer : 'Delivered';
  }

  /**
   * Renders a batch and hands it to `send` within the time.
   * @throws whatever ended it; the reason of the control when that was aborted.
   */
  async exchange<T>(
    batch: DeliveryBatch,
    { seconds, control }: { readonly seconds: number; readonly control: AbortController },
    send: (notification: Notification) => Promise<T>,
  ): Promise<T> {
    const body = Buffer.from(await this.renderers.render(batch));
    const deadline = setTimeout(() => {
      control.abort(new DeliveryFailure(`No answer within ${seconds} s`));
    }, seconds * 1000);
    try {
      control.signal.throwIfAborted();
      return await send({ id: notificationIdOf(body), body });
    } catch (error) {
      throw control.signal.aborted ? control.signal.reason : error;
    } finally {
      clearTimeout(deadline);
    }
  }

  /** @throws DeliveryFailure when no module brings the kind any more */
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
}

/**
 * Equal ids mean equal bytes: receivers may drop what they know. The body holds the destination and the event numbers.
 */
const notificationIdOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex').slice(0, 32);
