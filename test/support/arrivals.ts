import { type NotificationBody, type ReceivedRequest, type WebhookReceiver } from '../../testing/webhook-receiver';

/** A received event: its number, and the resource with its version, such as `Patient/p/3`. */
interface SeenEvent {
  readonly number: number;
  readonly key: string;
}

/** Notifications of a destination that names versions (`includeVersionIdInFocusReference`). */
export class Arrivals {
  /** The first arrival of each event. */
  readonly seen: readonly SeenEvent[];
  /** Number of distinct batch ids. */
  readonly batches: number;
  /** Faults that must never occur: numbers out of order, versions after later ones, one batch with different bytes. */
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

  /** Number of requests that contained no new event. */
  get repeated(): number {
    return this.requests.length - this.batches;
  }
}

const eventsOf = ({ body }: ReceivedRequest): SeenEvent[] =>
  (JSON.parse(body) as NotificationBody).entry[0].resource.notificationEvent.map(({ eventNumber, focus }) => ({
    number: eventNumber,
    key: focus.reference.replace('/_history/', '/'),
  }));

/** The requests on a path of a receiver; by default the path of its URL. */
export const arrivalsAt = ({ requests }: WebhookReceiver, path = '/hook'): Arrivals =>
  new Arrivals(requests.filter((request) => request.path === path));

/** Versions that arrived before an earlier version of the same resource. */
function inversions(keys: readonly string[]): string[] {
  const latest = new Map<string, number>();
  return keys.filter((key) => {
    const [, id = '', version] = key.split('/');
    const isInverted = Number(version) < (latest.get(id) ?? 0);
    latest.set(id, Number(version));
    return isInverted;
  });
}

/** Groups batches by their first number: the id is derived from the body, so it would differ with the bytes. */
function otherBytes(requests: readonly ReceivedRequest[], events: readonly SeenEvent[][]): number[] {
  const bodies = new Map<number, string>();
  return requests.flatMap(({ body }, index) => {
    const first = events[index]?.[0]?.number ?? 0;
    const known = bodies.get(first) ?? body;
    bodies.set(first, known);
    return known === body ? [] : [first];
  });
}
