import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../platform/discovery/handler-registry';

/** An element of `SvcTopicDestination.parameter`: a name and one `value[x]`. */
export interface DestinationParameter {
  readonly name: string;
  readonly [member: string]: unknown;
}

/**
 * The text that stands for a secret, such as a header value, when a destination is read. A write that contains this
 * text keeps the current value.
 * @example
 * const masked = (parameter: DestinationParameter): DestinationParameter =>
 *   parameter.name === 'pin' ? { ...parameter, valueString: MASK } : parameter;
 */
export const MASK = '***';

/** Settings that the queue reads for every kind. A kind may add its own. The settings are stored as JSON. */
export interface DeliverySettings {
  /** Timeout of one attempt. After this time the signal of `send` is aborted. */
  readonly timeoutSeconds: number;
  readonly maxMessagesInBatch: number;
}

/** A batch in the form in which it is sent. */
export interface Notification {
  /** An id derived from the body. It is the same in every attempt of a batch, and different for any other content. */
  readonly id: string;
  /** The JSON text of the batch, identical in every attempt. */
  readonly body: Buffer;
}

/** A notification that is being sent. Keep its body as briefly as possible, since all attempts share the memory. */
export interface Outgoing {
  /** The value of the header `traceparent` (https://www.w3.org/TR/trace-context/); undefined without traces. */
  readonly traceparent?: string | undefined;
  /**
   * Renders the notification; each call gives the same bytes. Call it when the receiver is connected, so that the body
   * is not in memory before it can be sent.
   */
  render(): Promise<Notification>;
  /** Call this for each 64 kB sent. Without progress for 10 s, an attempt may be aborted to free memory for others. */
  progress(): void;
  /** Call this when nothing refers to the body any more. Otherwise the body is released at the end of `send`. */
  release(): void;
}

/** One finding of a test of a destination. */
export interface Finding {
  readonly name: string;
  readonly grade: 'pass' | 'warn' | 'fail';
  /** The meaning of the finding, and advice on what to do. */
  readonly message: string;
}

/** A request as people see it, with its address and headers but without secrets. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly bytes: number;
}

/** A way to deliver, such as webhooks. This module provides queue, batches, retries, `$status` and validation. */
export interface DeliveryKind<Settings extends DeliverySettings = DeliverySettings> {
  /**
   * Reads and checks the parameters of a destination. A masked secret keeps its value from `inForce`, the current
   * settings.
   * @throws ServiceError 'unprocessable' that says what to do
   */
  settingsOf(parameters: readonly DestinationParameter[], inForce: Settings | undefined): Settings;
  /** Masks the secrets of a parameter, as it is stored and read. Without this method no parameter is secret. */
  masked?(parameter: DestinationParameter): DestinationParameter;
  /**
   * Returns stored parameters for callers who may update the destination. They see the values that they could send to
   * their own endpoint anyway. Without this method all masked values stay masked.
   * @returns the given elements, some with their values instead of the mask
   */
  unmasked?(parameters: readonly DestinationParameter[], inForce: Settings): readonly DestinationParameter[];
  /**
   * Sends the notification once. If the promise resolves, the batch is delivered; a text that it resolves with is shown
   * in the timeline (`$events`). If the promise rejects, the batch is sent again.
   * @throws DeliveryFailure with the text that `$status` shows
   */
  send(outgoing: Outgoing, settings: Settings, signal: AbortSignal): Promise<unknown>;
  /**
   * Returns settings for a test endpoint, without values that only the real endpoint may receive. Without this method,
   * calls that name a test endpoint are refused.
   */
  redirected?(settings: Settings, endpoint: string): Settings;
  /** Returns the request of `send`, with {@link MASK} for each secret. Without this method `$request` is refused. */
  shown?(outgoing: Outgoing, settings: Settings): Promise<ShownRequest>;
  /** Sends a sample and grades the responses. Without this method `$test` only reports the outcome of `send`. */
  probe?(sample: Outgoing, settings: Settings, signal: AbortSignal): Promise<readonly Finding[]>;
}

/** The names by which a destination chooses a kind. */
export interface DeliveryKindDefinition {
  /** The value of `SvcTopicDestination.kind`. */
  readonly kind: string;
  /**
   * Ends of profile canonicals, such as `StructureDefinition/acme-file-drop`. `meta.profile` of a destination must
   * contain a canonical with one of these ends.
   */
  readonly profiles: readonly string[];
}

/**
 * Registers a {@link DeliveryKind}.
 * @example
 * &#64;Injectable()
 * &#64;DeliverBy({ kind: 'acme-console', profiles: ['StructureDefinition/acme-console'] })
 * export class ConsoleKind implements DeliveryKind {
 *   settingsOf(): DeliverySettings {
 *     return { timeoutSeconds: 5, maxMessagesInBatch: 20 };
 *   }
 *
 *   async send(outgoing: Outgoing): Promise<void> {
 *     console.log((await outgoing.render()).id);
 *   }
 * }
 */
export const DeliverBy = DiscoveryService.createDecorator<DeliveryKindDefinition>();

@Injectable()
export class DeliveryKinds extends HandlerRegistry<DeliveryKindDefinition, DeliveryKind> {
  constructor(discovery: DiscoveryService) {
    super(discovery, DeliverBy, ({ kind }) => kind, ['settingsOf', 'send'], {
      kind: 'string',
      profiles: { each: 'string' },
    });
  }
}
