import { Injectable } from '@nestjs/common';
import { DESTINATION_STATES, Destinations, type DestinationStatus, MOST_COUNTED } from '../../delivery/destinations';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import {
  type AnswerValues,
  answerParameters,
  partsAnswer,
  Operation,
  type OperationHandler,
  type OperationRequest,
} from '../../operation/operation';
import { RequestContext } from '../../platform/request/request-context';
import { presentationIn } from '../destinations/destination-presentation';
import { ReadableFocus } from '../events/readable-focus';
import { callParametersOf, choice, ON_DESTINATION, wholeNumber } from './destination-call';

const TYPE = ON_DESTINATION.resourceType;

const DEFAULT_COUNT = 20;
const MAX_COUNT = 100;
const HOUR_MILLISECONDS = 3_600_000;

const PARTS = {
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
} as const;

/** Returns all destinations, page by page: which of them fail, since when, and how many events wait. */
@Injectable()
@Operation({
  ...ON_DESTINATION,
  code: 'overview',
  level: 'type',
  methods: ['GET'],
  enforcesRows: true,
  description: 'All destinations with their state, what waits, and counts by hour',
  details: `In the order of their ids. A state is held (after a restore), failing or active. Events that wait are counted up to ${MOST_COUNTED}; where there are more, queuedIsMore is true, and $status has the number. With _id the answer has one destination; with state those that are held, failing or active. Of each of the latest 24 hours with any: events delivered and attempts failed. A page holds fewer destinations where the caller may not read some; there is another one where "next" names it.`,
  parameters: [
    { name: '_count', description: `Destinations of a page, at most ${MAX_COUNT}` },
    { name: '_id', description: 'Only this destination' },
    { name: 'state', description: `Only those in this state: ${DESTINATION_STATES.join(', ')}` },
    { name: '_page', description: 'Where a page begins, from the "next" of the page before' },
  ],
  answerParts: PARTS,
  exampleAnswer: answerParameters(PARTS, {
    destination: {
      ...{ id: 'hook-1', topic: 'https://clinic.example/topics/final-observations', kind: 'webhook-at-least-once' },
      ...{ state: 'active', queued: 0, inProcess: 0 },
    },
  }),
})
export class DestinationOverviewOperation implements OperationHandler {
  constructor(
    private readonly destinations: Destinations,
    private readonly readable: ReadableFocus,
    private readonly requests: RequestContext,
  ) {}

  async execute({ query, body, rootUrl }: OperationRequest): Promise<FhirAnswer> {
    const parameters = callParametersOf({ query, body }, ['_count', '_id', 'state', '_page']);
    const count = wholeNumber(parameters, '_count', MAX_COUNT) ?? DEFAULT_COUNT;
    const state = choice(parameters, 'state', DESTINATION_STATES);
    const id = parameters.get('_id');
    const from = id ?? parameters.get('_page') ?? '';
    const limit = id === undefined ? count + 1 : 1;
    const read = await this.destinations.statusFrom(from, limit, state, MOST_COUNTED + 1);
    const found = read.filter((one) => id === undefined || one.id === id);
    const focuses = found.slice(0, count).map((destination) => ({ ...destination, type: TYPE }));
    const shown = await this.readable.withinRows(focuses, () => Promise.resolve(this.requests.rows));
    const next = found[count]?.id;
    if (next !== undefined) query.set('_page', next);
    return partsAnswer(PARTS, {
      destination: shown.map(shownStatus),
      next: next === undefined ? undefined : `${rootUrl}/${TYPE}/$overview?${query.toString()}`,
    });
  }
}

function shownStatus(status: DestinationStatus): AnswerValues<typeof PARTS.destination> {
  const { id, kind, state, failStreak, nextAttemptAt, eventsInProcess, eventsQueued, oldestAge, hours } = status;
  const [lastError] = status.lastErrors;
  return {
    ...{ id, kind, state, inProcess: eventsInProcess, oldestAgeSeconds: oldestAge },
    topic: presentationIn(status.presentation).topic,
    queued: Math.min(eventsQueued, MOST_COUNTED),
    queuedIsMore: eventsQueued > MOST_COUNTED ? true : undefined,
    ...(failStreak === 0 ? {} : { failuresInARow: failStreak, nextAttempt: nextAttemptAt }),
    lastError: lastError && { ...lastError, timestamp: new Date(lastError.timestamp) },
    hour: hours?.map(([hour, delivered, failed]) => ({
      ...{ start: new Date(hour * HOUR_MILLISECONDS), delivered, failed },
    })),
  };
}
