import { Injectable } from '@nestjs/common';
import { type Finding } from '../../delivery/delivery-kind';
import { Trials } from '../../delivery/trials';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import {
  answerParameters,
  partsAnswer,
  Operation,
  type OperationHandler,
  type OperationRequest,
} from '../../operation/operation';
import { ON_DESTINATION, callParametersOf } from './destination-call';
import { DestinationPrincipal } from '../destinations/destination-principal';

const PARTS = { grade: 'code', finding: { name: 'code', grade: 'code', message: 'string' } } as const;

/** Sends a sample in the same way as events, and grades the responses of the receiver. */
@Injectable()
@Operation({
  ...ON_DESTINATION,
  code: 'test',
  methods: ['POST'],
  enforcesRows: true,
  exampleBody: { resourceType: 'Parameters' },
  description: 'Sends a sample to the webhook, and grades the responses',
  details:
    'A notification without events, signed as all are, sent up to three times: once; a second time, as deliveries can repeat; and with a wrong signature, which should be refused. Each finding has a name, a grade (pass, warn, fail) and advice. $status does not count it.',
  exampleAnswer: answerParameters(PARTS, {
    grade: 'fail',
    finding: { name: 'answer', grade: 'fail', message: 'Connection refused' },
  }),
  answerParts: PARTS,
  parameters: [{ name: 'endpoint', description: 'Another URL to try, before it is stored' }],
})
export class DestinationTestOperation implements OperationHandler {
  constructor(
    private readonly trials: Trials,
    private readonly principals: DestinationPrincipal,
  ) {}

  async execute({ id = '', query, body }: OperationRequest): Promise<FhirAnswer> {
    const parameters = callParametersOf({ query, body }, ['endpoint']);
    await this.principals.assertMayChange(id);
    const finding = await this.trials.test(id, parameters.get('endpoint'));
    return partsAnswer(PARTS, { grade: worstOf(finding), finding });
  }
}

const worstOf = (findings: readonly Finding[]): Finding['grade'] =>
  (['fail', 'warn'] as const).find((worse) => findings.some(({ grade }) => grade === worse)) ?? 'pass';
