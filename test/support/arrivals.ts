import { type NotificationBody, type ReceivedRequest, type WebhookReceiver } from '../../testing/webhook-receiver';

/** An event as it came: its number, and the resource with its version, such as `Patient/p/3`. */
interface SeenEvent {
  readonly number: number;
  readonly key: string;
}

/** Notifications of one destination, with versions (`includeVersionIdInFocusReference`). */
export class Arrivals {
  /** Each event when it came for the first time. */
  readonly seen: readonly SeenEvent[];
  /** Batches by the id that they were sent under. */
  readonly batches: number;
  /** Faults that must never occur: numbers out of order, versions after later ones, other bytes in one batch. */
  readonly faults: readonly string[];

  constructor(readonly requests: readonly ReceivedRequest[]) {
    const events = requests.map(eventsOf);
    const numbered = new Map<number, SeenEvent>();
    for (const event of events.flat()) if (!numbered.has(event.number)) numbered.set(event.number, event);
    this.seen = [...numbered.values()];
    this.batches = new Set(requests.map(({ headers }) => headers['webhook-id'])).size;
    this.faults = [
      ...this.seen
        .filter(({ number }, index) => number !== index + 1)
        .map(({ number }) => `number ${number} out of line`),
      ...inversions(this.keys).map((key) => `${key} after a later version`),
      ...otherBytes(requests, events).map((first) => `other bytes in the batch that begins with ${first}`),
    ];
  }

  get keys(): readonly string[] {
    return this.seen.map(({ key }) => key);
  }

  /** How many requests brought nothing new. */
  get repeated(): number {
    return this.requests.length - this.batches;
  }
}

const eventsOf = ({ body }: ReceivedRequest): SeenEvent[] =>
  (JSON.parse(body) as NotificationBody).entry[0].resource.notificationEvent.map(({ eventNumber, focus }) => ({
    number: eventNumber,
    key: focus.reference.replace('/_history/', '/'),
  }));

/** Requests on a path of a receiver; by default on that of its URL. */
export const arrivalsAt = ({ requests }: WebhookReceiver, path = '/hook'): Arrivals =>
  new Arrivals(requests.filter((request) => request.path === path));

/** Versions that came before an earlier one of the same resource. */
function inversions(keys: readonly string[]): string[] {
  const latest = new Map<string, number>();
  return keys.filter((key) => {
    const [, id = '', version] = key.split('/');
    const isInverted = Number(version) < (latest.get(id) ?? 0);
    latest.set(id, Number(version));
    return isInverted;
  });
}

/** A batch begins with its first number; the id is made from the body, so it would tell nothing. */
function otherBytes(requests: readonly ReceivedRequest[], events: readonly SeenEvent[][]): number[] {
  const bodies = new Map<number, string>();
  return requests.flatMap(({ body }, index) => {
    const first = events[index]?.[0]?.number ?? 0;
    const known = bodies.get(first) ?? body;
    bodies.set(first, known);
    return known === body ? [] : [first];
  });
}
