import { Injectable } from '@nestjs/common';
import { type DestinationStatus, Destinations } from '../../delivery/destinations';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import {
  type AnswerValues,
  answerParameters,
  partsAnswer,
  Operation,
  type OperationHandler,
  type OperationRequest,
} from '../../operation/operation';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../../platform/http/known-parameters';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { ON_DESTINATION } from './destination-call';

const PARTS = {
  messageBatchesDelivered: 'decimal',
  messageBatchesDeliveryAttempts: 'decimal',
  messagesDelivered: 'decimal',
  messagesDeliveryAttempts: 'decimal',
  messagesInProcess: 'decimal',
  messagesQueued: 'decimal',
  startTimestamp: 'dateTime',
  status: 'string',
  lastErrorDetail: { message: 'string', timestamp: 'dateTime' },
} as const;

/** Returns the status of a destination (interface specification, "Status result of the destination"). */
@Injectable()
@Operation({
  ...ON_DESTINATION,
  code: 'status',
  methods: ['GET'],
  enforcesRows: true,
  description: 'Counts of delivered and waiting events, and the latest errors',
  details:
    'Totals of all servers since it was created, exact through crashes. …DeliveryAttempts count failed attempts; messagesInProcess counts the batch under way, messagesQueued the events behind it. After a failure up to five lastErrorDetail follow, newest first, each with message and timestamp; they stay after a success. Status is active, or held after a restore until an operator releases delivery.',
  answerParts: PARTS,
  exampleAnswer: answerParameters(PARTS, {
    ...{ messageBatchesDelivered: 4, messageBatchesDeliveryAttempts: 0 },
    ...{ messagesDelivered: 11, messagesDeliveryAttempts: 0, messagesInProcess: 0, messagesQueued: 2 },
    ...{ startTimestamp: '2026-01-31T10:00:00Z', status: 'active' },
  }),
})
export class DestinationStatusOperation implements OperationHandler {
  constructor(
    private readonly destinations: Destinations,
    private readonly granted: GrantedReader,
  ) {}

  async execute({ id = '', query, headers }: OperationRequest): Promise<FhirAnswer> {
    assertKnownParameters('$status', query, SHAPE_PARAMETERS, headers.prefer);
    await this.granted.assertSeen('SvcTopicDestination', id);
    return partsAnswer(PARTS, shownStatus(await this.destinations.status(id)));
  }
}

/** The form of the interface specification, in which `…DeliveryAttempts` count only failed attempts. */
const shownStatus = (status: DestinationStatus): AnswerValues<typeof PARTS> => ({
  messageBatchesDelivered: status.deliveredBatches,
  messageBatchesDeliveryAttempts: status.failedBatches,
  messagesDelivered: status.deliveredEvents,
  messagesDeliveryAttempts: status.failedEvents,
  messagesInProcess: status.eventsInProcess,
  messagesQueued: status.eventsQueued,
  startTimestamp: secondsOf(status.startedAt),
  status: status.state === 'held' ? 'held' : 'active',
  lastErrorDetail: status.lastErrors.map(({ message, timestamp }) => ({
    message,
    timestamp: secondsOf(new Date(timestamp)),
  })),
});

const secondsOf = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;
