import { Injectable } from '@nestjs/common';
import { type RequestOfEvent, Trials } from '../../delivery/trials';
import { type FhirAnswer, parametersAnswer } from '../../fhir/edge/fhir-answer';
import { Operation, type OperationHandler, type OperationRequest } from '../../operation/operation';
import { ServiceError } from '../../platform/errors/service-error';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { callParametersOf, wholeNumber } from './destination-call';

/** The request that carries an event, for people who compare it with the log of the receiver. */
@Injectable()
@Operation({
  resourceType: 'SvcTopicDestination',
  code: 'request',
  level: 'instance',
  methods: ['GET'],
  enforcesRows: true,
  exampleId: 'hook-1',
  tag: 'Topics',
  description: 'The request that carries an event, without its secrets',
  details:
    'Method, URL, headers, length of the body, and the numbers of the events in the same notification. Values of configured headers and of the query, and the signature, are ***; the body is not shown. Of an event that was delivered it is the request of a replay. No parts before the first notification, where no number is given.',
  parameters: [{ name: 'number', description: 'The number of the event; the latest one when left out' }],
  answerParts: {
    method: 'code',
    url: 'url',
    header: { name: 'string', value: 'string' },
    bytes: 'decimal',
    from: 'decimal',
    to: 'decimal',
  },
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
      throw new ServiceError('not-found', `No notification with event ${number} is kept.`, { expression: 'number' });
    return parametersAnswer(request === undefined ? [] : partsOf(request));
  }
}

const partsOf = ({ method, url, headers, bytes, firstNumber, lastNumber }: RequestOfEvent): object[] => [
  { name: 'method', valueCode: method },
  { name: 'url', valueUrl: url },
  ...headers.map(({ name, value }) => ({
    name: 'header',
    part: [
      { name: 'name', valueString: name },
      { name: 'value', valueString: value },
    ],
  })),
  { name: 'bytes', valueDecimal: bytes },
  { name: 'from', valueDecimal: firstNumber },
  { name: 'to', valueDecimal: lastNumber },
];
