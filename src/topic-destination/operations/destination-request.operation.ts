import { Injectable } from '@nestjs/common';
import { Trials } from '../../delivery/trials';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { partsAnswer, Operation, type OperationHandler, type OperationRequest } from '../../operation/operation';
import { ServiceError } from '../../platform/errors/service-error';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { ON_DESTINATION, callParametersOf, wholeNumber } from './destination-call';

const PARTS = {
  method: 'code',
  url: 'url',
  header: { name: 'string', value: 'string' },
  bytes: 'decimal',
  from: 'decimal',
  to: 'decimal',
} as const;

/** Returns the request that contains an event, for people who compare it with the log of the receiver. */
@Injectable()
@Operation({
  ...ON_DESTINATION,
  code: 'request',
  methods: ['GET'],
  enforcesRows: true,
  description: 'The request that carries an event, without its secrets',
  details:
    'Method, URL, headers, length of the body, and the numbers of the events in the same notification. Values of configured headers and of the query, and the signature, are ***; the body is not shown. Of an event that was delivered it is the request of a replay. No parts before the first notification, where no number is given.',
  parameters: [{ name: 'number', description: 'The number of the event; the latest one when left out' }],
  answerParts: PARTS,
})
export class DestinationRequestOperation implements OperationHandler {
  constructor(
    private readonly trials: Trials,
    private readonly granted: GrantedReader,
  ) {}

  async execute({ id = '', query, body }: OperationRequest): Promise<FhirAnswer> {
    const number = wholeNumber(callParametersOf({ query, body }, ['number']), 'number');
    await this.granted.assertSeen('SvcTopicDestination', id);
    const request = await this.trials.requestOf(id, number);
    if (request === undefined && number !== undefined)
      throw new ServiceError('event-not-found', `No notification with event ${number} is kept.`, {
        expression: 'number',
      });
    return partsAnswer(PARTS, { ...request, header: request?.headers });
  }
}
