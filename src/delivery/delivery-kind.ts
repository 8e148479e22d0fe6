import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../platform/discovery/handler-registry';

/** An element of a destination's `parameter`: a name and one `value[x]` (interface, "SvcTopicDestination"). */
export interface DestinationParameter {
  readonly name: string;
  readonly [member: string]: unknown;
}

/**
 * Replaces a secret, such as a header value, when a destination is read. In a write it keeps the value in force.
 * @example
 * const masked = (parameter: DestinationParameter): DestinationParameter =>
 *   parameter.name === 'pin' ? { ...parameter, valueString: MASK } : parameter;
 */
export const MASK = '***';

/** Settings that the queue reads for every kind; a kind adds its own. They are stored as JSON. */
export interface DeliverySettings {
  /** Timeout of one attempt; after it the signal of `send` is aborted. */
  readonly timeoutSeconds: number;
  readonly maxMessagesInBatch: number;
}

/** A batch as it is sent. */
export interface Notification {
  /** Derived from the body: the same for every attempt of a batch, and for no other content. */
  readonly id: string;
  /** JSON text, identical in every attempt. */
  readonly body: Buffer;
}

/**
 * A notification being sent. Many attempts share the memory of bodies, so each should keep one as briefly as possible.
 */
export interface Outgoing {
  /** To be sent along as the header of this name (https://www.w3.org/TR/trace-context/); undefined without traces. */
  readonly traceparent?: string | undefined;
  /** Renders it, identically at each call. Call it once the receiver is connected: until then there is no body. */
  render(): Promise<Notification>;
  /** Call this per 64 kB sent. A receiver without progress for 10 s may be aborted when others wait for memory. */
  progress(): void;
  /** Call this when the body is no longer referenced; by default that is the end of `send`. */
  release(): void;
}

/** One result of a test of a destination. */
export interface Finding {
  readonly name: string;
  readonly grade: 'pass' | 'warn' | 'fail';
  /** The meaning and the remedy. */
  readonly message: string;
}

/** A request as people are shown it: its address and headers without secrets. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly bytes: number;
}

/** A way to deliver. Queue, batches, retries, `$status` and validation are provided by this package. */
export interface DeliveryKind<Settings extends DeliverySettings = DeliverySettings> {
  /**
   * Reads and checks parameters. Secrets may be masked; their values then come from the settings in `inForce`.
   * @throws ServiceError 'unprocessable' that names the remedy.
   */
  settingsOf(parameters: readonly DestinationParameter[], inForce: Settings | undefined): Settings;
  /** The parameter as stored and read; without this method nothing is secret. */
  masked?(parameter: DestinationParameter): DestinationParameter;
  /**
   * Stored parameters for callers who may update the destination, with values that they could redirect to themselves
   * anyway. Without this method masked values stay masked.
   * @returns the given elements, some with their values
   */
  unmasked?(parameters: readonly DestinationParameter[], inForce: Settings): readonly DestinationParameter[];
  /**
   * Sends once. Resolve means delivered; reject means retry. A resolved text is shown in the timeline (`$events`).
   * @throws DeliveryFailure with the text that `$status` shows.
   */
  send(outgoing: Outgoing, settings: Settings, signal: AbortSignal): Promise<unknown>;
  /**
   * Settings for a test endpoint, without values meant only for the real one; without this method no such test is
   * possible.
   */
  redirected?(settings: Settings, endpoint: string): Settings;
  /**
   * The request that `send` would make, with {@link MASK} for each secret; without this method `$request` is refused.
   */
  shown?(outgoing: Outgoing, settings: Settings): Promise<ShownRequest>;
  /** Sends a sample and grades the responses; without this method `$test` sends once and reports the outcome. */
  probe?(sample: Outgoing, settings: Settings, signal: AbortSignal): Promise<readonly Finding[]>;
}

/** Names by which destinations choose a kind. */
export interface DeliveryKindDefinition {
  /** The value of `SvcTopicDestination.kind`. */
  readonly kind: string;
  /**
   * Suffixes of profile canonicals, such as `StructureDefinition/acme-file-drop`; `meta.profile` must contain one of
   * them.
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
    super(discovery, DeliverBy, ({ kind }) => kind);
  }
}
