import { parse } from 'lossless-json';
import { type Authorization } from '../http-client';
import { jsonBody } from '../json-body';
import { expectThat } from './broken-promise';
import { DEMO_CHART, DESTINATION_ID, TOPIC_ID } from './demo-data';
import { type EventReceiver, type ReceivedEvent } from './event-receiver';
import { eventually } from './eventually';
import { type Story } from './story';
import { textTable } from './text-table';
import { listAt, shown, stringAt, valueAt } from './value-at';

const TOPIC_URL = 'https://clinic.example/topics/amended-observations';
const PROFILE = 'https://clinic.example/StructureDefinition/svctopicdestination-webhook-at-least-once';
export const DESTINATION_PATH = `/fhir/SvcTopicDestination/${DESTINATION_ID}`;
const DEADLINE_SECONDS = 30;
const AMENDED_COUNT = 5;

/** Header that the receiver requires, sent by the `header` parameter of the destination. */
export const HOOK_HEADER = { name: 'X-Clinic', value: 'demo' };

/** Amended observations arrive at a webhook: each at least once, and none that the topic excludes. */
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
  await story.send({ method: 'DELETE', path: DESTINATION_PATH, authorization }, 200, 204);
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

  const wanted = await tellChanges(story, authorization);
  await tellArrival(story, receiver, wanted);
  await tellStatus(story, authorization);
  await takeDown(story, authorization);
}

/** Removes the destination, so that no server keeps calling a receiver that is gone. */
async function takeDown(story: Story, authorization: Authorization): Promise<void> {
  story.step('The webhook is taken down: nothing is delivered any longer');
  await story.call({ method: 'DELETE', path: DESTINATION_PATH, authorization }, 200);
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
  // The receiver has a batch shortly before the service has recorded its arrival.
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
  return ['valueDecimal', 'valueDateTime', 'valueString', 'part']
    .map((name) => valueAt(part, name))
    .find((value) => value !== undefined);
}

function keyOf(focus: string, versionId: unknown): string {
  return `${focus} version ${shown(versionId)}`;
}
