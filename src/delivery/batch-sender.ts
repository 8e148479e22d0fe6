import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SecretBox } from '../platform/crypto/secret-box';
import { type DeliverySettings } from './delivery-kind';
import { DeliveryKinds } from './delivery-kind.registry';
import { DeliveryFailure } from './delivery-failure';
import { type ClaimedBatch } from './delivery-queue';
import { NotificationRenderers } from './notification-renderer';

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
    const found = this.kinds.find(batch.kind);
    if (found === undefined) throw new DeliveryFailure(`No module of this server delivers by "${batch.kind}"`);
    const settings = this.settingsOf(batch.sealedSettings);
    const body = Buffer.from(await this.renderers.render(batch));
    const { timeoutSeconds } = batch;
    const deadline = setTimeout(() => {
      attempt.abort(new DeliveryFailure(`No answer within ${timeoutSeconds} s`));
    }, timeoutSeconds * 1000);
    try {
      attempt.signal.throwIfAborted();
      const answer = await found.handler.send({ id: notificationIdOf(body), body }, settings, attempt.signal);
      return typeof answer === 'string' ? answer : 'Delivered';
    } catch (error) {
      throw attempt.signal.aborted ? attempt.signal.reason : error;
    } finally {
      clearTimeout(deadline);
    }
  }

  private settingsOf(sealed: Buffer): DeliverySettings {
    const settings = this.opened.get(sealed) ?? (JSON.parse(this.secrets.open(sealed).toString()) as DeliverySettings);
    this.opened.set(sealed, settings);
    return settings;
  }
}

/**
 * Equal ids mean equal bytes: receivers may drop what they know. The body holds the destination and the event numbers.
 */
export const notificationIdOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex').slice(0, 32);
