import { Injectable } from '@nestjs/common';
import { Replays } from '../../delivery/replays';
import { Trials } from '../../delivery/trials';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { partsAnswer, Operation, type OperationHandler, type OperationRequest } from '../../operation/operation';
import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { ON_DESTINATION, RANGE_NAMES, callParametersOf, eventRangeOf, callFlagOf } from './destination-call';
import { DestinationPrincipal } from '../destinations/destination-principal';

const PARTS = {
  queued: 'decimal',
  events: 'decimal',
  from: 'decimal',
  to: 'decimal',
  batch: { from: 'decimal', to: 'decimal', delivered: 'boolean', outcome: 'string' },
  next: 'decimal',
  limitedTo: 'decimal',
} as const;

@Injectable()
@Operation({
  ...ON_DESTINATION,
  code: 'replay',
  methods: ['POST'],
  enforcesRows: true,
  exampleBody: {
    resourceType: 'Parameters',
    parameter: [
      { name: 'from', valueDecimal: 1 },
      { name: 'to', valueDecimal: 20 },
    ],
  },
  description: 'Sends delivered events once more',
  details:
    'By number or by time of delivery, in Parameters or in the query, at most 10,000 in one call. They join the end of the queue; the response has their count and range (queued, from, to). They keep their notifications: same numbers, same bytes, same webhook-id, so a receiver that drops known ids drops them. With "endpoint" the notifications go there instead while you wait, each once, at most 50. The response lists each; "next" is the number to continue from. With dryRun true nothing is sent: the response has the count and range of what would be (events, from, to), and limitedTo, the number up to which one call may send, where there are more than 10,000.',
  answerParts: PARTS,
  parameters: [
    { name: 'from', description: 'The least event number' },
    { name: 'to', description: 'The largest event number' },
    { name: 'since', description: 'The earliest time of delivery, with its zone' },
    { name: 'until', description: 'The latest time of delivery, with its zone' },
    { name: 'endpoint', description: 'Another URL to send them to, for a test' },
    { name: 'dryRun', description: 'true only counts them' },
  ],
})
export class DestinationReplayOperation implements OperationHandler {
  constructor(
    private readonly replays: Replays,
    private readonly trials: Trials,
    private readonly principals: DestinationPrincipal,
  ) {}

  async execute({ id = '', query, body }: OperationRequest): Promise<FhirAnswer> {
    const parameters = callParametersOf({ query, body }, [...RANGE_NAMES, 'endpoint', 'dryRun']);
    const range = eventRangeOf(parameters);
    if (!RANGE_NAMES.some((name) => parameters.has(name))) {
      throw parameterInvalid('Say what to send again: "from" and "to" (numbers), or "since" and "until".');
    }
    const endpoint = parameters.get('endpoint');
    await this.principals.assertMayChange(id);
    const isDryRun = callFlagOf(parameters, 'dryRun');
    if (isDryRun || endpoint === undefined) {
      const { events, ...others } = await this.replays.queueAgain(id, range, isDryRun);
      return partsAnswer(PARTS, { [isDryRun ? 'events' : 'queued']: events, ...others });
    }
    await this.principals.assertMayHear(id);
    return partsAnswer(PARTS, await this.trials.sendElsewhere(id, range, endpoint));
  }
}
