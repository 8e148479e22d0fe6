import { Injectable } from '@nestjs/common';
import { Destinations } from '../../delivery/destinations';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { partsAnswer, Operation, type OperationHandler, type OperationRequest } from '../../operation/operation';
import { ON_DESTINATION, callParametersOf } from './destination-call';
import { DestinationPrincipal } from '../destinations/destination-principal';

const PARTS = { pauseEnded: 'boolean' } as const;

/** Ends the pause of a destination after a failure, for a receiver that works again. */
@Injectable()
@Operation({
  ...ON_DESTINATION,
  code: 'retry',
  methods: ['POST'],
  enforcesRows: true,
  exampleBody: { resourceType: 'Parameters' },
  description: 'Tries a failing destination at once',
  details:
    'Ends the pause that follows a failure: the next attempt starts now, and what waits behind it follows in order. "pauseEnded" is false where there was no pause, as during an attempt. Another failure pauses as long as it would have without the call.',
  answerParts: PARTS,
})
export class DestinationRetryOperation implements OperationHandler {
  constructor(
    private readonly destinations: Destinations,
    private readonly principals: DestinationPrincipal,
  ) {}

  async execute({ id = '', query, body }: OperationRequest): Promise<FhirAnswer> {
    callParametersOf({ query, body }, []);
    await this.principals.assertMayChange(id);
    return partsAnswer(PARTS, { pauseEnded: await this.destinations.retry(id) });
  }
}
