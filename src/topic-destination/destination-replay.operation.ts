import { Injectable } from '@nestjs/common';
import { Replays } from '../delivery/replays';
import { Trials } from '../delivery/trials';
import { type FhirAnswer } from '../fhir/fhir-answer';
import { Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { ServiceError } from '../platform/errors/service-error';
import { RANGE_NAMES, callParametersOf, eventRangeOf } from './destination-call';
import { DestinationRights } from './destination-rights';

/** Sends delivered events once more, under their numbers. */
@Injectable()
@Operation({
  resourceType: 'SvcTopicDestination',
  code: 'replay',
  level: 'instance',
  methods: ['POST'],
  exampleId: 'hook-1',
  exampleBody: {
    resourceType: 'Parameters',
    parameter: [
      { name: 'from', valueDecimal: 1 },
      { name: 'to', valueDecimal: 20 },
    ],
  },
  description:
    'Sends delivered events again, under their numbers: "from" and "to" are numbers, "since" and "until" times of delivery. They join the queue, or go to the test endpoint "endpoint" at once',
})
export class DestinationReplayOperation implements OperationHandler {
  constructor(
    private readonly replays: Replays,
    private readonly trials: Trials,
    private readonly rights: DestinationRights,
  ) {}

  async execute({ id = '', query, body }: OperationRequest): Promise<FhirAnswer> {
    const parameters = callParametersOf({ query, body }, [...RANGE_NAMES, 'endpoint']);
    const range = eventRangeOf(parameters);
    if (Object.keys(range).length === 0) {
      throw new ServiceError('invalid', 'Say what to send again: "from" and "to" (numbers), or "since" and "until".');
    }
    const endpoint = parameters.get('endpoint');
    await this.rights.assertMayChange(id);
    if (endpoint === undefined) {
      const { events, firstNumber, lastNumber } = await this.replays.queueAgain(id, range);
      return answerOf([
        { name: 'queued', valueDecimal: events },
        ...numberPart('from', firstNumber),
        ...numberPart('to', lastNumber),
      ]);
    }
    await this.rights.assertMayHear(id);
    const { batches, nextNumber } = await this.trials.sendElsewhere(id, range, endpoint);
    return answerOf([
      ...batches.map(({ firstNumber, lastNumber, isDelivered, outcome }) => ({
        name: 'batch',
        part: [
          ...numberPart('from', firstNumber),
          ...numberPart('to', lastNumber),
          { name: 'delivered', valueBoolean: isDelivered },
          { name: 'outcome', valueString: outcome },
        ],
      })),
      ...numberPart('next', nextNumber),
    ]);
  }
}

const answerOf = (parameter: readonly object[]): FhirAnswer => ({
  status: 200,
  text: JSON.stringify({ resourceType: 'Parameters', ...(parameter.length === 0 ? {} : { parameter }) }),
});

const numberPart = (name: string, number: number | undefined): object[] =>
  number === undefined ? [] : [{ name, valueDecimal: number }];
