import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { eventually } from '../../testing/eventually';
import { type Received, startTestApp, type TestApp, type TestAppOptions } from '../../testing/test-app';
import { type NotificationBody, WebhookReceiver } from '../../testing/webhook-receiver';
import * as destinations from './destinations';

interface Parameter {
  readonly name: string;
  readonly valueDecimal?: number;
  readonly part?: readonly { readonly name: string; readonly valueString?: string }[];
}

/** The counts and errors of a destination, from its `$status`. */
interface Status {
  readonly counts: Readonly<Record<string, number>>;
  readonly errors: readonly (string | undefined)[];
}

/** A server that delivers, and a webhook. Specs of a file share its database, so each uses separate topics and ids. */
export class DestinationApp {
  app!: TestApp;
  receiver!: WebhookReceiver;

  readonly endpoint = (): object => ({ name: 'endpoint', valueUrl: this.receiver.url });

  readonly destination = (
    topic: string,
    parameter: readonly object[] = [this.endpoint()],
    more: object = {},
  ): object => {
    const { parameter: _endpoint, ...body } = destinations.destination(topic) as Record<string, unknown>;
    return { ...body, ...(parameter.length === 0 ? {} : { parameter }), ...more };
  };

  readonly newDestination = (topic: string, parameter?: readonly object[], more?: object): Promise<string> =>
    destinations.newDestination(this.app, this.destination(topic, parameter, more));

  readonly newTopic = (trigger?: object, more?: object): Promise<string> =>
    destinations.newTopic(this.app, trigger, more);

  readonly write = async (id: string, members: object = {}): Promise<Received> => {
    const answer = await this.app.put(`/fhir/Patient/${id}`, { resourceType: 'Patient', id, ...members });
    expect([200, 201]).toContain(answer.status);
    return answer;
  };

  readonly status = async (id: string, on: TestApp = this.app): Promise<Status> => {
    const { parameter } = (await on.get(`/fhir/SvcTopicDestination/${id}/$status`)).json<{ parameter: Parameter[] }>();
    const errors = parameter.filter(({ name }) => name === 'lastErrorDetail').map(({ part }) => part?.[0]?.valueString);
    return { counts: await destinations.countsOf(on, id), errors };
  };

  readonly delivered = (id: string, count: number): Promise<unknown> => destinations.delivered(this.app, id, count);

  readonly received = (count: number): Promise<unknown> =>
    eventually(`${count} requests came`, () => this.receiver.requests.length >= count);
}

/**
 * Starts a server for the specs of a file, and a webhook for each spec. After each spec, its webhook and destinations
 * are removed.
 */
export function useDestinationApp({ environment, ...options }: TestAppOptions = {}): DestinationApp {
  const used = new DestinationApp();
  beforeAll(async () => {
    // No polls, since delivery must not depend on them: commits and the ends of pauses wake the worker.
    const settings = { SVC_DELIVERY_POLL_MILLISECONDS: '60000', SVC_SHUTDOWN_SECONDS: '1', ...environment };
    used.app = await startTestApp({ environment: settings, ...options });
  });
  afterAll(() => used.app.close());
  beforeEach(async () => {
    used.receiver = await WebhookReceiver.start();
  });
  afterEach(async () => {
    // Deletes all destinations: a destination without a receiver would be retried during all later specs.
    const all = (await used.app.get('/fhir/SvcTopicDestination?_count=1000')).json<{
      entry?: { resource: { id: string } }[];
    }>();
    for (const { resource } of all.entry ?? []) await used.app.delete(`/fhir/SvcTopicDestination/${resource.id}`);
    await used.receiver.stop();
  });
  return used;
}

/** Numbers and references of the events of each request. */
export const eventsOf = (bodies: readonly NotificationBody[]): [number, string][][] =>
  bodies.map(({ entry: [first] }) =>
    first.resource.notificationEvent.map(({ eventNumber, focus }) => [eventNumber, focus.reference]),
  );
