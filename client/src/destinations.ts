import type { Connection } from './connection.js';
import { valuesOf } from './parameters.js';
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

/** A destination among all others. */
export interface DestinationOverview {
  readonly id: string;
  readonly topic?: string;
  readonly kind: string;
  /** Held after a restore, until an operator releases delivery. */
  readonly state: 'active' | 'failing' | 'held';
  /** Events that wait; of more than 1,000, `queuedIsMore` is true. */
  readonly queued: number;
  readonly queuedIsMore?: boolean;
  readonly inProcess: number;
  readonly oldestAgeSeconds?: number;
  readonly failuresInARow?: number;
  readonly nextAttempt?: string;
  readonly lastError?: { readonly message: string; readonly timestamp: string };
  /** Those of the latest 24 hours in which something happened. */
  readonly hours: readonly { readonly start: string; readonly delivered: number; readonly failed: number }[];
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

  /** All destinations with their states and queues, over all pages. */
  async *overview(query: Query = {}): AsyncGenerator<DestinationOverview, void, void> {
    type Page = Schemas['SvcTopicDestinationOverviewAnswer'];
    let page = await this.connection.json<Page>('GET', `${PATH}/$overview`, { query });
    for (;;) {
      const values = valuesOf(page.parameter, ['destination', 'hour']);
      for (const { hour: hours = [], ...destination } of (values['destination'] ?? []) as Record<string, unknown>[])
        yield { ...destination, hours } as unknown as DestinationOverview;
      if (values['next'] === undefined) return;
      page = await this.connection.json<Page>('GET', this.connection.pathOf(String(values['next'])));
    }
  }

  /** The totals of delivery, and its latest errors. */
  async status(id: string): Promise<DestinationStatus> {
    const { parameter } = await this.connection.json<Schemas['SvcTopicDestinationStatusAnswer']>(
      'GET',
      `${at(id)}/$status`,
    );
    const { lastErrorDetail: lastErrors = [], ...values } = valuesOf(parameter, ['lastErrorDetail']);
    return { ...values, lastErrors } as unknown as DestinationStatus;
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
