import { Injectable } from '@nestjs/common';
import { type DestinationStatus, Destinations } from '../delivery/destinations';
import { type FhirAnswer } from '../fhir/fhir-answer';
import { Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { ServiceError } from '../platform/errors/service-error';
import { GrantedReader } from '../resource/rows/granted-reader';

/** interface, "Status result of the destination". */
@Injectable()
@Operation({
  resourceType: 'SvcTopicDestination',
  code: 'status',
  level: 'instance',
  methods: ['GET'],
  enforcesRows: true,
  exampleId: 'hook-1',
  description: 'What a topic destination delivered, what waits, and its latest errors',
})
export class DestinationStatusOperation implements OperationHandler {
  constructor(
    private readonly destinations: Destinations,
    private readonly granted: GrantedReader,
  ) {}

  async execute({ id = '' }: OperationRequest): Promise<FhirAnswer> {
    await this.granted.assertSeen('SvcTopicDestination', id);
    const status = await this.destinations.findStatus(id);
    if (status === undefined) throw new ServiceError('not-found', `Resource SvcTopicDestination/${id} not found`);
    return { status: 200, text: JSON.stringify(statusParameters(status)) };
  }
}

/** `…DeliveryAttempts` count failed attempts, whatever their names say. */
export function statusParameters(status: DestinationStatus): object {
  const decimals = {
    messageBatchesDelivered: status.deliveredBatches,
    messageBatchesDeliveryAttempts: status.failedBatches,
    messagesDelivered: status.deliveredEvents,
    messagesDeliveryAttempts: status.failedEvents,
    messagesInProcess: status.eventsInProcess,
    messagesQueued: status.eventsQueued,
  };
  return {
    resourceType: 'Parameters',
    parameter: [
      ...Object.entries(decimals).map(([name, valueDecimal]) => ({ name, valueDecimal })),
      { name: 'startTimestamp', valueDateTime: secondsOf(status.startedAt) },
      { name: 'status', valueString: 'active' },
      ...status.lastErrors.map(({ message, timestamp }) => ({
        name: 'lastErrorDetail',
        part: [
          { name: 'message', valueString: message },
          { name: 'timestamp', valueDateTime: secondsOf(new Date(timestamp)) },
        ],
      })),
    ],
  };
}

const secondsOf = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;
