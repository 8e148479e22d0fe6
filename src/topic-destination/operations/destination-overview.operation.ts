import { Injectable } from '@nestjs/common';
import { MOST_COUNTED } from '../../delivery/delivery-statements';
import {
  DESTINATION_STATES,
  type DestinationOverview,
  Destinations,
  type DestinationState,
} from '../../delivery/destinations';
import { type FhirAnswer, parametersAnswer } from '../../fhir/edge/fhir-answer';
import { Operation, type OperationHandler, type OperationRequest } from '../../operation/operation';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/request/request-context';
import { Clock } from '../../platform/time/clock';
import { ResourceReader } from '../../store/resource-reader';
import { ReadableFocus } from '../events/readable-focus';
import { callParametersOf, wholeNumber } from './destination-call';

const TYPE = 'SvcTopicDestination';
const DEFAULT_COUNT = 20;
const MAX_COUNT = 100;
const HOUR_MILLISECONDS = 3_600_000;

const PARAMETERS = [
  { name: '_count', description: `Destinations of a page, at most ${MAX_COUNT}` },
  { name: '_id', description: 'Only this destination' },
  { name: 'state', description: `Only those in this state: ${DESTINATION_STATES.join(', ')}` },
  { name: '_page', description: 'Where a page begins, from the "next" of the page before' },
] as const;

/** All destinations, page by page: which of them are stuck, since when, and how much waits. */
@Injectable()
@Operation({
  resourceType: TYPE,
  code: 'overview',
  level: 'type',
  methods: ['GET'],
  enforcesRows: true,
  tag: 'Topics',
  description: 'All destinations with their state, what waits, and counts by hour',
  details: `In the order of their ids. A state is held (after a restore), failing or active. Events that wait are counted up to ${MOST_COUNTED}; where there are more, queuedIsMore is true, and $status has the number. With _id the answer has one destination; with state those that are held, failing or active. Of each of the latest 24 hours with any: events delivered and attempts failed. A page holds fewer destinations where the caller may not read some; there is another one where "next" names it.`,
  parameters: PARAMETERS,
  answerParts: {
    destination: {
      id: 'id',
      topic: 'canonical',
      kind: 'code',
      state: 'code',
      queued: 'decimal',
      queuedIsMore: 'boolean',
      inProcess: 'decimal',
      oldestAgeSeconds: 'decimal',
      failuresInARow: 'decimal',
      nextAttempt: 'instant',
      lastError: { message: 'string', timestamp: 'instant' },
      hour: { start: 'instant', delivered: 'decimal', failed: 'decimal' },
    },
    next: 'url',
  },
  exampleAnswer: {
    resourceType: 'Parameters',
    parameter: [
      {
        name: 'destination',
        part: overviewParts(
          {
            ...{ id: 'hook-1', kind: 'webhook-at-least-once', failStreak: 0, eventsInProcess: 0, eventsCounted: 0 },
            ...{ nextAttemptAt: new Date(0), lastError: null, isHeld: false },
            ...{ oldestAt: null, hours: null },
          },
          'https://clinic.example/topics/final-observations',
          Date.parse('2026-01-31T10:00:01.5Z'),
        ),
      },
    ],
  },
})
export class DestinationOverviewOperation implements OperationHandler {
  constructor(
    private readonly destinations: Destinations,
    private readonly readable: ReadableFocus,
    private readonly reader: ResourceReader,
    private readonly requests: RequestContext,
    private readonly clock: Clock,
  ) {}

  async execute({ query, body, rootUrl }: OperationRequest): Promise<FhirAnswer> {
    const parameters = callParametersOf({ query, body }, ['_count', '_id', 'state', '_page']);
    const count = wholeNumber(parameters, '_count', MAX_COUNT) ?? DEFAULT_COUNT;
    const state = stateOf(parameters.get('state'));
    const id = parameters.get('_id');
    const found =
      id === undefined
        ? await this.destinations.overview(parameters.get('_page') ?? '', count + 1, state)
        : (await this.destinations.overviewOf(id)).filter((one) => state === undefined || state === stateIn(one));
    const page = found.slice(0, count);
    const focuses = page.map((destination) => ({ ...destination, type: TYPE }));
    const shown = await this.readable.withinRows(focuses, () => Promise.resolve(this.requests.rows));
    const topics = await this.topicsOf(shown.map(({ id }) => id));
    const now = this.clock.now().getTime();
    const parameter = shown.map((destination) => ({
      name: 'destination',
      part: overviewParts(destination, topics.get(destination.id), now),
    }));
    const last = page.at(-1);
    if (last === undefined || found.length <= count) return parametersAnswer(parameter);
    query.set('_page', last.id);
    return parametersAnswer([
      ...parameter,
      { name: 'next', valueUrl: `${rootUrl}/${TYPE}/$overview?${query.toString()}` },
    ]);
  }

  private async topicsOf(ids: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    const found = await this.reader.findMany(TYPE, ids);
    return new Map(found.map(({ id, text }) => [id, (JSON.parse(text) as { readonly topic?: unknown }).topic]));
  }
}

function overviewParts(destination: DestinationOverview, topic: unknown, now: number): object[] {
  const { id, kind, failStreak, nextAttemptAt, eventsInProcess, eventsCounted, oldestAt, lastError } = destination;
  return [
    { name: 'id', valueId: id },
    ...(topic === undefined ? [] : [{ name: 'topic', valueCanonical: topic }]),
    { name: 'kind', valueCode: kind },
    { name: 'state', valueCode: stateIn(destination) },
    { name: 'queued', valueDecimal: Math.min(eventsCounted, MOST_COUNTED) },
    ...(eventsCounted > MOST_COUNTED ? [{ name: 'queuedIsMore', valueBoolean: true }] : []),
    { name: 'inProcess', valueDecimal: eventsInProcess },
    ...(oldestAt === null ? [] : [{ name: 'oldestAgeSeconds', valueDecimal: secondsSince(oldestAt, now) }]),
    ...(failStreak === 0
      ? []
      : [
          { name: 'failuresInARow', valueDecimal: failStreak },
          { name: 'nextAttempt', valueInstant: nextAttemptAt.toISOString() },
        ]),
    ...(lastError === null ? [] : [{ name: 'lastError', part: errorParts(lastError) }]),
    ...(destination.hours ?? []).map(([hour, delivered, failed]) => ({
      name: 'hour',
      part: [
        { name: 'start', valueInstant: new Date(hour * HOUR_MILLISECONDS).toISOString() },
        { name: 'delivered', valueDecimal: delivered },
        { name: 'failed', valueDecimal: failed },
      ],
    })),
  ];
}

function stateIn({ isHeld, failStreak }: DestinationOverview): DestinationState {
  if (isHeld) return 'held';
  return failStreak > 0 ? 'failing' : 'active';
}

function stateOf(text: string | undefined): DestinationState | undefined {
  const state = DESTINATION_STATES.find((known) => known === text);
  if (text !== undefined && state === undefined)
    throw new ServiceError('invalid', `state must be one of ${DESTINATION_STATES.join(', ')}.`, {
      expression: 'state',
    });
  return state;
}

function secondsSince(time: Date, now: number): number {
  return Math.max(0, now - time.getTime()) / 1000;
}

function errorParts({ message, timestamp }: { readonly message: string; readonly timestamp: string }): object[] {
  return [
    { name: 'message', valueString: message },
    { name: 'timestamp', valueInstant: new Date(timestamp).toISOString() },
  ];
}
