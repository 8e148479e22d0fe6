import type { Connection } from './connection.js';
import type { Query, Schemas } from './types.js';

export type Destination = Schemas['SvcTopicDestination'];
export type EventsPage = Schemas['SvcTopicDestinationEventsAnswer'];

export interface DestinationStatus {
  readonly messageBatchesDelivered: number;
  readonly messageBatchesDeliveryAttempts: number;
  readonly messagesDelivered: number;
  readonly messagesDeliveryAttempts: number;
  readonly messagesInProcess: number;
  readonly messagesQueued: number;
  readonly startTimestamp: string;
  readonly status: string;
  /** At most five, newest first. */
  readonly lastErrors: readonly { readonly message: string; readonly timestamp: string }[];
}

/** Webhooks that get the events of a topic. */
export class Destinations {
  constructor(private readonly connection: Connection) {}

  create(destination: Omit<Destination, 'resourceType'>): Promise<Destination> {
    return this.connection.json('POST', PATH, { body: { resourceType: 'SvcTopicDestination', ...destination } });
  }

  read(id: string): Promise<Destination> {
    return this.connection.json('GET', at(id));
  }

  /** Changes a webhook; its queue stays. */
  update(destination: Destination & { id: string }): Promise<Destination> {
    return this.connection.json('PUT', at(destination.id), { body: destination });
  }

  /** Ends delivery and drops the events that were not delivered. */
  async delete(id: string): Promise<void> {
    await this.connection.json('DELETE', at(id));
  }

  /** The totals of delivery, and its latest errors. */
  async status(id: string): Promise<DestinationStatus> {
    const { parameter = [] } = await this.connection.json<Schemas['SvcTopicDestinationStatusAnswer']>(
      'GET',
      `${at(id)}/$status`,
    );
    const values: Record<string, unknown> = {};
    const lastErrors: { message: string; timestamp: string }[] = [];
    for (const element of parameter) {
      if ('part' in element) lastErrors.push(errorOf(element.part));
      else values[element.name] = valueOf(element);
    }
    return { ...(values as unknown as Omit<DestinationStatus, 'lastErrors'>), lastErrors };
  }

  /** The history of each event, newest first, over all pages. */
  async *events(id: string, query: Query = {}): AsyncGenerator<EventOf<EventsPage>, void, void> {
    let page = await this.connection.json<EventsPage>('GET', `${at(id)}/$events`, { query });
    for (;;) {
      let next: string | undefined;
      for (const element of page.parameter ?? []) {
        if ('part' in element) yield element;
        else next = element.valueUrl;
      }
      if (next === undefined) return;
      page = await this.connection.json<EventsPage>('GET', this.connection.pathOf(next));
    }
  }

  /** Sends delivered events once more, by number or by time of delivery. */
  replay(id: string, range: Query): Promise<Schemas['SvcTopicDestinationReplayAnswer']> {
    return this.connection.json('POST', `${at(id)}/$replay`, { query: range });
  }

  /** Sends a sample, and grades what comes back. */
  test(id: string, query: Query = {}): Promise<Schemas['SvcTopicDestinationTestAnswer']> {
    return this.connection.json('POST', `${at(id)}/$test`, { query });
  }
}

type EventOf<Page extends { parameter?: unknown[] }> = Extract<
  NonNullable<Page['parameter']>[number],
  { name: 'event' }
>;

const PATH = '/fhir/SvcTopicDestination';
const at = (id: string): string => `${PATH}/${encodeURIComponent(id)}`;

const valueOf = (element: object): unknown =>
  Object.entries(element).find(([name]) => name.startsWith('value'))?.[1] as unknown;

function errorOf(part: readonly object[]): { message: string; timestamp: string } {
  const values = Object.fromEntries(part.map((one) => [(one as { name: string }).name, valueOf(one)]));
  return { message: String(values['message']), timestamp: String(values['timestamp']) };
}
