import { DiscoveryService } from '@nestjs/core';

/** An element of a destination's `parameter`: a name and one `value[x]` (interface, "SvcTopicDestination"). */
export interface DestinationParameter {
  readonly name: string;
  readonly [member: string]: unknown;
}

/** Stands for a secret, such as a header value, wherever a destination is read. Sent back it means what is in force. */
export const MASK = '***';

/** Settings that the queue reads of every kind; a kind adds its own. They are stored as JSON. */
export interface DeliverySettings {
  /** Time for one attempt; after it the signal of `send` is aborted. */
  readonly timeoutSeconds: number;
  readonly maxMessagesInBatch: number;
}

/** A batch as it is sent. */
export interface Notification {
  /** The same for every attempt of a batch, and for no other content: made from the body. */
  readonly id: string;
  /** JSON text, the same bytes in every attempt. */
  readonly body: Buffer;
}

/** A notification on its way. Many attempts share the memory of bodies, so each holds one as briefly as it can. */
export interface Outgoing {
  /** Renders it, the same at each call. To be called when the receiver is connected: until then there is no body. */
  render(): Promise<Notification>;
  /** The connection took another 64 kB: a receiver that does not for 10 s may be ended, when others wait for memory. */
  progress(): void;
  /** The body is not referenced any more. Without a call, that is when `send` ends. */
  release(): void;
}

/** One result of a test of a destination. */
export interface Finding {
  readonly name: string;
  readonly grade: 'pass' | 'warn' | 'fail';
  /** The meaning, and what to do. */
  readonly message: string;
}

/**
 * A way to deliver. Queue, batches, retries, `$status` and validation come by themselves.
 */
export interface DeliveryKind<Settings extends DeliverySettings = DeliverySettings> {
  /**
   * Reads and checks parameters. Secrets may come masked; `inForce` are the settings to take them from.
   * @throws ServiceError 'unprocessable' that says what to do.
   */
  settingsOf(parameters: readonly DestinationParameter[], inForce: Settings | undefined): Settings;
  /** The parameter as it is stored and read; without it nothing is secret. */
  masked?(parameter: DestinationParameter): DestinationParameter;
  /**
   * Stored parameters as they are shown to callers who may update the destination: with what these could have sent to
   * themselves anyway. Without it what is masked stays so.
   * @returns the elements given; those that are shown hold their values
   */
  unmasked?(parameters: readonly DestinationParameter[], inForce: Settings): readonly DestinationParameter[];
  /**
   * Sends once. Resolving means delivered; rejecting means that it is tried again. A text that it resolves to is shown
   * in the timeline (`$events`).
   * @throws DeliveryFailure with the text that `$status` shows.
   */
  send(outgoing: Outgoing, settings: Settings, signal: AbortSignal): Promise<unknown>;
  /** The settings for a test endpoint, without what is meant for the real one alone; without it there is no such test. */
  redirected?(settings: Settings, endpoint: string): Settings;
  /** Sends a sample and grades what comes back; without it `$test` sends once and tells the outcome. */
  probe?(sample: Outgoing, settings: Settings, signal: AbortSignal): Promise<readonly Finding[]>;
}

export interface DeliveryKindDefinition {
  /** The value of `SvcTopicDestination.kind`. */
  readonly kind: string;
  /** Ends of the canonicals of which `meta.profile` must hold one, such as `StructureDefinition/acme-file-drop`. */
  readonly profiles: readonly string[];
}

/** Registers a {@link DeliveryKind}. */
export const DeliverBy = DiscoveryService.createDecorator<DeliveryKindDefinition>();
