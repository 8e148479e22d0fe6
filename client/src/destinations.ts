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

/** An event on its way from its write to the receiver. */
export interface DestinationEvent {
  /** Absent until a notification has taken it. */
  readonly number?: number;
  readonly state: 'queued' | 'in-process' | 'delivered';
  /** The written resource; absent where the caller may not read it, as are the next three. */
  readonly focus?: string;
  readonly version?: string;
  readonly interaction?: string;
  readonly correlationId?: string;
  /** Whether a criterion could not be evaluated, so that it is sent in case. */
  readonly undecided?: boolean;
  readonly recorded: string;
  readonly batched?: string;
  readonly delivered?: string;
  readonly attempts: number;
  /** The latest 20, oldest first. */
  readonly attempt: readonly {
    readonly ended: string;
    /** Absent where the outcome is not known. */
    readonly durationMilliseconds?: number;
    readonly delivered: boolean;
    readonly replay?: boolean;
    readonly outcome: string;
  }[];
}

/** A request without its secrets. */
export interface EventRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly bytes: number;
  /** The numbers of the first and the last event that it carries. */
  readonly from: number;
  readonly to: number;
}

export interface ReplayPreview {
  readonly events: number;
  /** The numbers of the first and the last of them. */
  readonly from?: number;
  readonly to?: number;
  /** Where one call may not send all: the number that it may go to. */
  readonly limitedTo?: number;
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

  /**
   * Changes a webhook; its queue stays. With `ifVersion` only if its `meta.versionId` still is this one.
   * @throws SvcError 412 if it has another version
   */
  update(destination: Destination & { id: string }, ifVersion?: string): Promise<Destination> {
    const headers: Record<string, string> = ifVersion === undefined ? {} : { 'If-Match': `W/"${ifVersion}"` };
    return this.connection.json('PUT', at(destination.id), { body: destination, headers });
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
      const { destination: listed = [], next } = valuesOf<OverviewPage>(page.parameter, ['destination', 'hour']);
      for (const { hour: hours = [], ...destination } of listed) yield { ...destination, hours };
      if (next === undefined) return;
      page = await this.connection.json<Page>('GET', this.connection.pathOf(next));
    }
  }

  /** The totals of delivery, and its latest errors. */
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

  /** The events of `events` as values, page by page. */
  async *timeline(id: string, query: Query = {}): AsyncGenerator<readonly DestinationEvent[], void, void> {
    let page = await this.connection.json<EventsPage>('GET', `${at(id)}/$events`, { query });
    for (;;) {
      const { event = [], next } = valuesOf<TimelinePage>(page.parameter, ['event', 'attempt']);
      yield event.map(eventOf);
      if (next === undefined) return;
      page = await this.connection.json<EventsPage>('GET', this.connection.pathOf(next));
    }
  }

  /** One destination among all others; undefined if there is none. */
  async overviewOf(id: string): Promise<DestinationOverview | undefined> {
    return (await this.overview({ _id: id }).next()).value ?? undefined;
  }

  /** The request that carries the event of this number; secrets are `***`. */
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

  /** Ends the pause after a failure: the next attempt starts now. */
  async retry(id: string): Promise<void> {
    await this.connection.json('POST', `${at(id)}/$retry`);
  }

  /** How many delivered events `replay` would send again; nothing is sent. */
  async previewReplay(id: string, range: Query): Promise<ReplayPreview> {
    const { parameter } = await this.replay(id, { ...range, dryRun: true });
    return valuesOf<ReplayPreview>(parameter);
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

/** Values whose list has another name in the answer, where it is left out when it is empty. */
type Renamed<Values, List extends keyof Values, Name extends string> = Omit<Values, List> & {
  readonly [Key in Name]?: Values[List];
};

interface OverviewPage {
  readonly destination?: readonly Renamed<DestinationOverview, 'hours', 'hour'>[];
  readonly next?: string;
}

interface TimelinePage {
  readonly event?: readonly TimelineEvent[];
  readonly next?: string;
}

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
