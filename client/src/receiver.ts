import type { Resource, Schemas } from './types.js';

/** One event of a notification. Each event is passed on once. */
export interface WebhookEvent {
  /** Names the period in which event numbers are unique. It changes after a restore or failover of the server. */
  readonly generation: string;
  readonly eventNumber: number;
  readonly topic: string | undefined;
  readonly destination: string | undefined;
  /** The changed resource, such as `Observation/o1`. */
  readonly focus: string | undefined;
  readonly correlationId: string | undefined;
  /** PUT or POST if the resource is stored, DELETE if it is deleted; absent if the destination sends no entries. */
  readonly method: string | undefined;
  /** The resource; absent for a deletion, and if the destination sends no content. */
  readonly resource: Resource | undefined;
}

/**
 * Remembers which events were handled. If many processes share it, it should keep the keys in a table, in the
 * transaction of the handler.
 */
export interface SeenEvents {
  has(key: string): Promise<boolean> | boolean;
  add(key: string): Promise<void> | void;
}

export interface ReceiverOptions {
  /** The `secret` of the destination. While it is being changed, both the old and the new secret. */
  readonly secret: string | readonly string[];
  /**
   * Where handled events are remembered. By default, the latest 10,000 in memory; a process that restarts then handles
   * repeated events again.
   */
  readonly seen?: SeenEvents;
  /** Maximum age of a notification; 300 by default. */
  readonly toleranceSeconds?: number;
}

/** A request as received. The body is the original text or bytes, not JSON that was parsed and printed again. */
export interface SentNotification {
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string | Uint8Array;
}

/** The error for a notification that does not come from the destination. Answer it with 401. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';
}

export interface Received {
  readonly handled: number;
  /** Number of events that were handled before and are skipped. */
  readonly repeated: number;
}

/** Receives the notifications of one destination (https://www.standardwebhooks.com). */
export class WebhookReceiver {
  private readonly seen: SeenEvents;
  private readonly keys: Promise<readonly CryptoKey[]>;
  private readonly toleranceSeconds: number;

  constructor({ secret, seen = new LatestEvents(10_000), toleranceSeconds = 300 }: ReceiverOptions) {
    this.seen = seen;
    this.toleranceSeconds = toleranceSeconds;
    this.keys = Promise.all((typeof secret === 'string' ? [secret] : secret).map(keyOf));
    this.keys.catch(() => undefined);
  }

  /**
   * Checks the signature, and passes each new event to `handle`, one after the other. If `handle` throws, `receive`
   * throws the same error. Your code should then answer 5xx, so that the server sends the notification again.
   * @throws SignatureError
   */
  async receive(sent: SentNotification, handle: (event: WebhookEvent) => Promise<void> | void): Promise<Received> {
    const body = typeof sent.body === 'string' ? sent.body : new TextDecoder().decode(sent.body);
    await this.verify(sent, body);
    let [handled, repeated] = [0, 0];
    for (const event of eventsOf(JSON.parse(body) as Schemas['Bundle'])) {
      const key = `${event.generation}/${event.eventNumber}`;
      if (await this.seen.has(key)) {
        repeated++;
        continue;
      }
      await handle(event);
      // The key is added after the event was handled. An event whose handler failed is then handled when it is sent
      // again.
      await this.seen.add(key);
      handled++;
    }
    return { handled, repeated };
  }

  private async verify({ headers }: SentNotification, body: string): Promise<void> {
    const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
      headerOf(headers, name),
    );
    if (id === undefined || timestamp === undefined || signatures === undefined)
      throw new SignatureError('The notification is not signed.');
    const age = Math.abs(Date.now() / 1000 - Number(timestamp));
    if (!(age <= this.toleranceSeconds)) throw new SignatureError('The notification is too old, or the clocks differ.');
    const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
    const sent = signatures.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : []));
    for (const key of await this.keys) {
      for (const signature of sent) {
        const bytes = bytesOf(signature);
        if (bytes !== undefined && (await crypto.subtle.verify('HMAC', key, bytes, content))) return;
      }
    }
    throw new SignatureError('No signature of the notification is right.');
  }
}

/** Remembers the latest events, in memory. */
class LatestEvents implements SeenEvents {
  private readonly keys = new Set<string>();

  constructor(private readonly most: number) {}

  has(key: string): boolean {
    return this.keys.has(key);
  }

  add(key: string): void {
    this.keys.add(key);
    const [first] = this.keys;
    if (this.keys.size > this.most && first !== undefined) this.keys.delete(first);
  }
}

/** The key of a secret in base64. The secret may begin with the prefix of Standard Webhooks. */
function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (bytes === undefined) return Promise.reject(new TypeError('The secret is not base64.'));
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function headerOf(headers: SentNotification['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

function eventsOf({ entry = [] }: Schemas['Bundle']): WebhookEvent[] {
  const [first, ...entries] = entry;
  const status = first?.resource as unknown as Schemas['SvcSubscriptionStatus'] | undefined;
  if (status?.resourceType !== 'SvcSubscriptionStatus')
    throw new TypeError('The notification does not begin with its SvcSubscriptionStatus.');
  const generation =
    status.extension?.find(({ url }) => url?.endsWith('/StructureDefinition/delivery-generation') === true)
      ?.valueUuid ?? '';
  // Entries are in the order of the events. There are none if the destination sends no content.
  return (status.notificationEvent ?? []).map(({ eventNumber, focus, correlationId }, index) => ({
    generation,
    eventNumber,
    topic: status.topic,
    destination: status['topic-destination'].reference,
    focus: focus?.reference,
    correlationId,
    method: entries[index]?.request?.method,
    resource: entries[index]?.resource,
  }));
}
