import type { Connection } from './connection.js';
import { type Part, valuesOf } from './parameters.js';
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
  /** The latest errors, newest first, at most five. */
  readonly lastErrors: readonly { readonly message: string; readonly timestamp: string }[];
}

/** One destination in the list of all destinations. */
export interface DestinationOverview {
  readonly id: string;
  readonly topic?: string;
  readonly kind: string;
  /**
   * State of delivery. `held` means that the server sends nothing: it was restored, and no operator has released
   * delivery yet.
   */
  readonly state: 'active' | 'failing' | 'held';
  /** Number of waiting events. If there are more than 1,000, `queuedIsMore` is true. */
  readonly queued: number;
  readonly queuedIsMore?: boolean;
  readonly inProcess: number;
  readonly oldestAgeSeconds?: number;
  readonly failuresInARow?: number;
  readonly nextAttempt?: string;
  readonly lastError?: { readonly message: string; readonly timestamp: string };
  /** Deliveries by hour, for the latest 24 hours in which there were any. */
  readonly hours: readonly { readonly start: string; readonly delivered: number; readonly failed: number }[];
}

/** An event, with its way from the write to the receiver. */
export interface DestinationEvent {
  /** Number of the event; absent until the event is part of a notification. */
  readonly number?: number;
  readonly state: 'queued' | 'in-process' | 'delivered';
  /** The written resource. This member and the next three are absent if the caller may not read the resource. */
  readonly focus?: string;
  readonly version?: string;
  readonly interaction?: string;
  readonly correlationId?: string;
  /** Set if a criterion could not be evaluated. The event is then delivered, although it may not match. */
  readonly undecided?: boolean;
  readonly recorded: string;
  readonly batched?: string;
  readonly delivered?: string;
  readonly attempts: number;
  /** The latest 20 attempts, oldest first. */
  readonly attempt: readonly {
    readonly ended: string;
    /** Duration of the attempt; absent if its outcome is not known. */
    readonly durationMilliseconds?: number;
    readonly delivered: boolean;
    readonly replay?: boolean;
    readonly outcome: string;
  }[];
}

/** The request of a notification, without its secrets. */
export interface EventRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly bytes: number;
  /** Numbers of the first and the last event in the request. */
  readonly from: number;
  readonly to: number;
}

export interface ReplayPreview {
  readonly events: number;
  /** Numbers of the first and the last of these events. */
  readonly from?: number;
  readonly to?: number;
  /** If one call may not send all these events: the number of the last event that it may send. */
  readonly limitedTo?: number;
}

/** Webhooks that receive the events of a topic. */
export class Destinations {
  constructor(private readonly connection: Connection) {}

  create(destination: Omit<Destination, 'resourceType'>): Promise<Destination> {
    return this.connection.json('POST', PATH, { body: { resourceType: 'SvcTopicDestination', ...destination } });
  }

  read(id: string): Promise<Destination> {
    return this.connection.json('GET', at(id));
  }

  /**
   * Changes a webhook, and keeps its queue of events. With `ifVersion`, it is changed only if its `meta.versionId` is
   * this version.
   * @throws SvcError 412 if it has another version
   */
  update(destination: Destination & { id: string }, ifVersion?: string): Promise<Destination> {
    const headers: Record<string, string> = ifVersion === undefined ? {} : { 'If-Match': `W/"${ifVersion}"` };
    return this.connection.json('PUT', at(destination.id), { body: destination, headers });
  }

  /** Deletes a destination. Its delivery ends, and events that were not delivered are dropped. */
  async delete(id: string): Promise<void> {
    await this.connection.json('DELETE', at(id));
  }

  /** Lists all destinations with their states and queues, over all pages. */
  async *overview(query: Query = {}): AsyncGenerator<DestinationOverview, void, void> {
    type Page = Schemas['SvcTopicDestinationOverviewAnswer'];
    for await (const { parameter } of this.connection.pages<Page>(`${PATH}/$overview`, query, nextOf)) {
      const { destination: listed = [] } = valuesOf<OverviewPage>(parameter, ['destination', 'hour']);
      for (const { hour: hours = [], ...destination } of listed) yield { ...destination, hours };
    }
  }

  /** Returns the totals of a destination's delivery, and its latest errors. */
  async status(id: string): Promise<DestinationStatus> {
    const { parameter } = await this.connection.json<Schemas['SvcTopicDestinationStatusAnswer']>(
      'GET',
      `${at(id)}/$status`,
    );
    const { lastErrorDetail: lastErrors = [], ...values } = valuesOf<
      Renamed<DestinationStatus, 'lastErrors', 'lastErrorDetail'>
    >(parameter, ['lastErrorDetail']);
    return { ...values, lastErrors };
  }

  /** Lists the events of a destination with their history, newest first, over all pages. */
  async *events(id: string, query: Query = {}): AsyncGenerator<EventOf<EventsPage>, void, void> {
    for await (const { parameter = [] } of this.connection.pages<EventsPage>(`${at(id)}/$events`, query, nextOf))
      for (const element of parameter) if ('part' in element) yield element;
  }

  /** Returns the same events as {@link events}, as plain values, one page at a time. */
  async *timeline(id: string, query: Query = {}): AsyncGenerator<readonly DestinationEvent[], void, void> {
    for await (const { parameter } of this.connection.pages<EventsPage>(`${at(id)}/$events`, query, nextOf)) {
      const { event = [] } = valuesOf<TimelinePage>(parameter, ['event', 'attempt']);
      yield event.map(eventOf);
    }
  }

  /** One destination in the form of {@link overview}; undefined if it does not exist. */
  async overviewOf(id: string): Promise<DestinationOverview | undefined> {
    return (await this.overview({ _id: id }).next()).value ?? undefined;
  }

  /** Returns the request that carries the event with this number. Secrets are shown as `***`. */
  async request(id: string, number: number): Promise<EventRequest> {
    const { parameter } = await this.connection.json<Schemas['SvcTopicDestinationRequestAnswer']>(
      'GET',
      `${at(id)}/$request`,
      { query: { number } },
    );
    const { header: headers = [], ...values } = valuesOf<Renamed<EventRequest, 'headers', 'header'>>(parameter, [
      'header',
    ]);
    return { ...values, headers };
  }

  /** Ends the pause after a failure, so that the next attempt starts now. */
  async retry(id: string): Promise<void> {
    await this.connection.json('POST', `${at(id)}/$retry`);
  }

  /** Returns how many delivered events `replay` would send again. Nothing is sent. */
  async previewReplay(id: string, range: Query): Promise<ReplayPreview> {
    const { parameter } = await this.replay(id, { ...range, dryRun: true });
    return valuesOf<ReplayPreview>(parameter);
  }

  /** Sends delivered events again. They are selected by number or by time of delivery. */
  replay(id: string, range: Query): Promise<Schemas['SvcTopicDestinationReplayAnswer']> {
    return this.connection.json('POST', `${at(id)}/$replay`, { query: range });
  }

  /** Sends a sample to the receiver, and grades its answer. */
  test(id: string, query: Query = {}): Promise<Schemas['SvcTopicDestinationTestAnswer']> {
    return this.connection.json('POST', `${at(id)}/$test`, { query });
  }
}

type EventOf<Page extends { parameter?: unknown[] }> = Extract<
  NonNullable<Page['parameter']>[number],
  { name: 'event' }
>;

/**
 * `Values`, with its member `List` as the answer of the server has it: under `Name`, and absent if the list is empty.
 */
type Renamed<Values, List extends keyof Values, Name extends string> = Omit<Values, List> & {
  readonly [Key in Name]?: Values[List];
};

interface OverviewPage {
  readonly destination?: readonly Renamed<DestinationOverview, 'hours', 'hour'>[];
}

interface TimelinePage {
  readonly event?: readonly TimelineEvent[];
}

const nextOf = ({ parameter }: { readonly parameter?: readonly Part[] }): string | undefined =>
  valuesOf<{ readonly next?: string }>(parameter?.filter(({ name }) => name === 'next')).next;

type TimelineEvent = Omit<DestinationEvent, 'focus' | 'attempts' | 'attempt'> &
  Partial<Pick<DestinationEvent, 'attempts' | 'attempt'>> & { readonly focus?: { readonly reference: string } };

const eventOf = ({ focus, ...values }: TimelineEvent): DestinationEvent => ({
  attempts: 0,
  attempt: [],
  ...values,
  ...(focus === undefined ? {} : { focus: focus.reference }),
});

const PATH = '/fhir/SvcTopicDestination';
const at = (id: string): string => `${PATH}/${encodeURIComponent(id)}`;
