import { parse } from 'lossless-json';
import { type Authorization } from '../http-client';
import { jsonBody } from '../json-body';
import { expectThat } from './broken-promise';
import { BROKEN_DESTINATION_ID, DEMO_CHART, DESTINATION_ID, TOPIC_ID } from './demo-data';
import { type EventReceiver, type ReceivedEvent } from './event-receiver';
import { eventually } from './eventually';
import { type Story } from './story';
import { textTable } from './text-table';
import { listAt, shown, stringAt, valueAt } from './value-at';

const TOPIC_URL = 'https://clinic.example/topics/amended-observations';
const PROFILE = 'https://clinic.example/StructureDefinition/svctopicdestination-webhook-at-least-once';
const DESTINATION_PATH = `/fhir/SvcTopicDestination/${DESTINATION_ID}`;
const BROKEN_PATH = `/fhir/SvcTopicDestination/${BROKEN_DESTINATION_ID}`;
export const DESTINATION_PATHS = [DESTINATION_PATH, BROKEN_PATH];
/** An endpoint at which nothing listens. */
const BROKEN_URL = 'http://127.0.0.1:9/events';
const DEADLINE_SECONDS = 30;
const AMENDED_COUNT = 5;

/** A header that the receiver requires, and that the parameter `header` of the destination makes the server send. */
export const HOOK_HEADER = { name: 'X-Clinic', value: 'demo' };

/**
 * Stores a topic and a webhook, and changes observations. Each amended one must arrive at least once, and none that the
 * topic excludes.
 */
export async function tellWebhook(story: Story, authorization: Authorization, receiver: EventReceiver): Promise<void> {
  story.step('A topic: observations that are amended');
  const topic = {
    resourceType: 'SvcSubscriptionTopic',
    url: TOPIC_URL,
    status: 'active',
    trigger: [{ resource: 'Observation', fhirPathCriteria: "status = 'amended'" }],
  };
  const topicPath = `/fhir/SvcSubscriptionTopic/${TOPIC_ID}`;
  await story.call({ method: 'PUT', path: topicPath, authorization, body: jsonBody(topic) }, 200, 201);

  story.step('A webhook that subscribes to them');
  // An interrupted run may have left a destination with a queue.
  for (const path of DESTINATION_PATHS) await story.send({ method: 'DELETE', path, authorization }, 200, 204);
  const destination = {
    resourceType: 'SvcTopicDestination',
    meta: { profile: [PROFILE] },
    kind: 'webhook-at-least-once',
    topic: TOPIC_URL,
    parameter: [
      { name: 'endpoint', valueUrl: receiver.url },
      { name: 'maxMessagesInBatch', valueUnsignedInt: 3 },
      { name: 'header', valueString: `${HOOK_HEADER.name}: ${HOOK_HEADER.value}` },
    ],
  };
  await story.call({ method: 'PUT', path: DESTINATION_PATH, authorization, body: jsonBody(destination) }, 200, 201);
  story.tell(`the demo listens at ${receiver.url}`);

  story.step('A second webhook, which cannot be reached');
  const broken = { ...destination, parameter: [{ name: 'endpoint', valueUrl: BROKEN_URL }] };
  await story.call({ method: 'PUT', path: BROKEN_PATH, authorization, body: jsonBody(broken) }, 200, 201);

  const wanted = await tellChanges(story, authorization);
  await tellArrival(story, receiver, wanted);
  await tellStatus(story, authorization);
  await tellOverview(story, authorization);
}

/** Shows all destinations: one that delivers, and one that keeps its events until it can deliver them. */
async function tellOverview(story: Story, authorization: Authorization): Promise<void> {
  story.step('All destinations: the failing one keeps its events, and holds up no other');
  const call = { method: 'GET', path: '/fhir/SvcTopicDestination/$overview?_count=100', authorization } as const;
  story.show(call);
  const rows = await eventually('the second webhook fails', DEADLINE_SECONDS, async () => {
    const { json } = await story.send(call, 200);
    const all = listAt(json, 'parameter').map((destination) => {
      return new Map(listAt(destination, 'part').map((part) => [stringAt(part, 'name'), valueOf(part)]));
    });
    const ours = all.filter((values) => [DESTINATION_ID, BROKEN_DESTINATION_ID].includes(shown(values.get('id'))));
    const names = ['id', 'state', 'queued', 'inProcess', 'failuresInARow'];
    const found = ours.map((values) => names.map((name) => shown(values.get(name) ?? '')));
    return found.map(([, state]) => state).join() === 'failing,active' ? found : undefined;
  });
  story.tell(textTable(['destination', 'state', 'queued', 'in process', 'failures in a row'], rows));
}

/** Removes the destinations, so that no server keeps calling a receiver that is gone. */
export async function takeDown(story: Story, authorization: Authorization): Promise<void> {
  story.step('The webhooks are taken down: nothing is delivered any longer');
  for (const path of DESTINATION_PATHS) await story.call({ method: 'DELETE', path, authorization }, 200);
  await story.call({ method: 'GET', path: `${DESTINATION_PATH}/$status`, authorization }, 404);
}

/** Changes observations and returns the expected events: `Observation/<id>` with the new version. */
async function tellChanges(story: Story, authorization: Authorization): Promise<string[]> {
  story.step(`${AMENDED_COUNT} observations are amended, one more only gets a remark`);
  const observations = [...DEMO_CHART.entries].filter(({ resourceType }) => resourceType === 'Observation');
  const wanted: string[] = [];
  for (const [index, { id, body }] of observations.slice(0, AMENDED_COUNT + 1).entries()) {
    const isAmended = index < AMENDED_COUNT;
    const changed = {
      ...(parse(body) as object),
      ...(isAmended && { status: 'amended' }),
      note: [{ text: isAmended ? 'Read again with a second device.' : 'Taken while sitting.' }],
    };
    const call = { method: 'PUT', path: `/fhir/Observation/${id}`, authorization, body: jsonBody(changed) } as const;
    if (index === 0) story.show(call);
    const answer = await story.send(call, 200);
    if (isAmended) wanted.push(keyOf(`Observation/${id}`, stringAt(answer.json, 'meta', 'versionId')));
  }
  story.tell(`→ 200, ${AMENDED_COUNT + 1} times`);
  return wanted;
}

async function tellArrival(story: Story, receiver: EventReceiver, wanted: readonly string[]): Promise<void> {
  story.step('The events arrive');
  const events = await eventually('every event arrives', DEADLINE_SECONDS, () => {
    const received = [...receiver.events.values()];
    const keys = new Set(received.map(({ focus, versionId }) => keyOf(focus, versionId)));
    return wanted.every((key) => keys.has(key)) ? received : undefined;
  });
  const rowOf = ({ eventNumber, focus, request, versionId }: ReceivedEvent): string[] => {
    return [String(eventNumber), focus, shown(versionId), request];
  };
  story.tell(textTable(['event', 'focus', 'version', 'request'], events.map(rowOf)));
  story.tell(`in ${receiver.notificationCount} notifications of at most 3 events`);
  const strangers = events
    .map(({ focus, versionId }) => keyOf(focus, versionId))
    .filter((key) => !wanted.includes(key));
  expectThat(strangers.length === 0, `only amended observations arrive, but these did: ${strangers.join(', ')}`);
}

async function tellStatus(story: Story, authorization: Authorization): Promise<void> {
  story.step('The status of the delivery');
  const call = { method: 'GET', path: `${DESTINATION_PATH}/$status`, authorization } as const;
  story.show(call);
  // The receiver has a batch shortly before the server has recorded its arrival.
  const properties = await eventually('the queue is empty', DEADLINE_SECONDS, async () => {
    const { json } = await story.send(call, 200);
    const found = new Map(listAt(json, 'parameter').map((part) => [stringAt(part, 'name'), valueOf(part)]));
    return found.get('messagesQueued') === 0 && found.get('messagesInProcess') === 0 ? found : undefined;
  });
  story.tell(
    textTable(
      ['property', 'value'],
      [...properties].map(([name, value]) => [name, shown(value)]),
    ),
  );
  expectThat(Number(properties.get('messagesDelivered')) >= AMENDED_COUNT, 'the delivered events are counted');
  expectThat(properties.get('status') === 'active', 'the status is "active"');
}

function valueOf(part: unknown): unknown {
  return ['valueId', 'valueCode', 'valueDecimal', 'valueDateTime', 'valueString', 'part']
    .map((name) => valueAt(part, name))
    .find((value) => value !== undefined);
}

function keyOf(focus: string, versionId: unknown): string {
  return `${focus} version ${shown(versionId)}`;
}
