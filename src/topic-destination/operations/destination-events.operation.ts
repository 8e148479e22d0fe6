import { Injectable } from '@nestjs/common';
import { EVENT_STATES, Timeline, type TimelineCursor, type TimelineEvent } from '../../delivery/timeline';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { localKey } from '../../fhir/reference';
import {
  type AnswerValues,
  partsAnswer,
  Operation,
  type OperationHandler,
  type OperationRequest,
} from '../../operation/operation';
import { ServiceError } from '../../platform/errors/service-error';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { ON_DESTINATION, RANGE_NAMES, callParametersOf, choice, eventRangeOf, wholeNumber } from './destination-call';
import { ReadableFocus } from '../events/readable-focus';

const DEFAULT_COUNT = 20;
/** Maximum number of events on a page. Each costs one check of the caller's rights to its resource. */
const MAX_COUNT = 100;

const PARTS = {
  event: {
    number: 'decimal',
    state: 'code',
    focus: 'Reference',
    version: 'id',
    interaction: 'code',
    correlationId: 'string',
    undecided: 'boolean',
    recorded: 'instant',
    batched: 'instant',
    attempts: 'decimal',
    attempt: {
      ended: 'instant',
      durationMilliseconds: 'decimal',
      delivered: 'boolean',
      replay: 'boolean',
      outcome: 'string',
    },
    delivered: 'instant',
  },
  next: 'url',
} as const;

/** Returns the events of a destination with their history: recorded, batched, each attempt, delivered. */
@Injectable()
@Operation({
  ...ON_DESTINATION,
  code: 'events',
  methods: ['GET'],
  enforcesRows: true,
  description: 'The history of each event: recorded, batched, each attempt, delivered',
  details:
    'Queued events first, newest first; then numbered events, the largest number first. Each event has a state, its times and its attempts, with duration and outcome. Its focus, version, interaction and correlationId are shown to callers who may read the resource. "next" is the URL of the next page, if there is one.',
  parameters: [
    { name: 'from', description: 'The least event number' },
    { name: 'to', description: 'The largest event number' },
    { name: 'since', description: 'The earliest time of delivery, or of the latest step before it' },
    { name: 'until', description: 'The latest such time' },
    { name: 'state', description: 'queued, in-process or delivered' },
    { name: '_count', description: `Events of a page, at most ${MAX_COUNT}` },
    { name: '_page', description: 'Where a page begins, from the "next" of the page before' },
  ],
  answerParts: PARTS,
})
export class DestinationEventsOperation implements OperationHandler {
  constructor(
    private readonly timeline: Timeline,
    private readonly granted: GrantedReader,
    private readonly readable: ReadableFocus,
  ) {}

  async execute({ id = '', query, body, rootUrl }: OperationRequest): Promise<FhirAnswer> {
    const parameters = callParametersOf({ query, body }, [...RANGE_NAMES, 'state', '_count', '_page']);
    const state = choice(parameters, 'state', EVENT_STATES);
    const cursor = cursorOf(parameters.get('_page'));
    const limit = wholeNumber(parameters, '_count', MAX_COUNT) ?? DEFAULT_COUNT;
    await this.granted.assertSeen('SvcTopicDestination', id);
    const page = await this.timeline.read(id, { ...eventRangeOf(parameters), ...cursor, state, limit });
    const shown = await this.readable.among(page.events);
    if (page.next !== undefined) query.set('_page', tokenOf(page.next));
    return partsAnswer(PARTS, {
      event: page.events.map((event) => shownEvent(event, shown.has(event))),
      next: page.next && `${rootUrl}/SvcTopicDestination/${id}/$events?${query.toString()}`,
    });
  }
}

/** Shows an event; its resource only to callers who may read it. The times belong to the destination. */
function shownEvent(event: TimelineEvent, isReadable: boolean): AnswerValues<typeof PARTS.event> {
  const { number, state, type, id, version, interaction, correlationId } = event;
  const focus = { reference: localKey(type, id) };
  return {
    ...{ number, state, recorded: event.recordedAt, batched: event.batchedAt, delivered: event.deliveredAt },
    ...(isReadable ? { focus, version: String(version), interaction, correlationId } : {}),
    undecided: event.isUndecided ? true : undefined,
    attempts: event.attemptCount === 0 ? undefined : event.attemptCount,
    attempt: event.attempts.map(({ endedAt: ended, durationMilliseconds, isDelivered, isReplay, outcome }) => ({
      ...{ ended, durationMilliseconds, outcome, delivered: isDelivered, replay: isReplay ? true : undefined },
    })),
  };
}

function cursorOf(text: string | undefined): TimelineCursor {
  if (text === undefined) return {};
  const [, kind, digits = ''] = /^([qn])(\d{1,16})$/.exec(text) ?? [];
  if (kind === 'q') return { queuedBelow: Number(digits) };
  if (kind === 'n') return { numberBelow: Number(digits) };
  throw new ServiceError('page-link-invalid', '_page must come from the "next" of a page.', { expression: '_page' });
}

const tokenOf = ({ queuedBelow, numberBelow }: TimelineCursor): string =>
  queuedBelow === undefined ? `n${numberBelow}` : `q${queuedBelow}`;
