import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { SecretBox } from '../platform/crypto/secret-box';
import { type DeliveryKind, DeliveryKinds, type DeliverySettings, type Outgoing } from './delivery-kind';
import { DeliveryFailure } from './delivery-failure';
import { type ClaimedBatch, DeliveryQueue, type DestinationRow, settingsIn } from './delivery-queue';
import { type DeliveryBatch } from './notification-renderer';
import { OutgoingBatch, type Sending } from './outgoing-batch';
import { SendMemory } from './send-memory';

export interface DeliveryWay {
  readonly handler: DeliveryKind;
  readonly settings: DeliverySettings;
}

/** Sends a batch once, by the kind of its destination and within the timeout. */
@Injectable()
export class BatchSender {
  constructor(
    private readonly kinds: DeliveryKinds,
    private readonly modules: ModuleRef,
    private readonly secrets: SecretBox,
    private readonly queue: DeliveryQueue,
    private readonly memory: SendMemory,
  ) {}

  /** Sends a claimed batch, and removes its content from it. Returns the outcome for the timeline. */
  async send(batch: ClaimedBatch, control: AbortController, traceparent?: string): Promise<string> {
    const { content, failStreak, firstNumber, timeoutSeconds: seconds } = batch;
    delete batch.content;
    const share = failStreak === 0 && firstNumber > 1 ? 'all' : 'half';
    const read = (): Promise<DeliveryBatch> => this.queue.read(batch);
    return this.sendBy(this.wayOf(batch), { share, content, read, seconds, control, traceparent });
  }

  /** Like {@link send}, for a batch that is not in the queue. */
  async sendBy({ handler, settings }: DeliveryWay, sending: Sending): Promise<string> {
    const answer = await this.exchange(sending, (outgoing, signal) => handler.send(outgoing, settings, signal));
    return typeof answer === 'string' ? answer : 'Delivered';
  }

  /** Calls `send` with the batch, until its timeout. @throws the error of `send`, or the abort reason of the control */
  async exchange<T>(sending: Sending, send: (outgoing: Outgoing, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = sending.control;
    signal.throwIfAborted();
    const outgoing = new OutgoingBatch(sending, this.memory, this.modules);
    try {
      return await send(outgoing, signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      outgoing.end();
    }
  }

  /** @throws DeliveryFailure when no module of this server provides the kind */
  wayOf(row: DestinationRow): DeliveryWay {
    const found = this.kinds.find(row.kind);
    if (found === undefined) throw new DeliveryFailure(`No module of this server delivers by "${row.kind}"`);
    return { handler: found.handler, settings: settingsIn(row, this.secrets) };
  }
}
