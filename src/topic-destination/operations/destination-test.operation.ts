import { Injectable } from '@nestjs/common';
import { type Finding } from '../../delivery/delivery-kind';
import { Trials } from '../../delivery/trials';
import { type FhirAnswer, parametersAnswer } from '../../fhir/edge/fhir-answer';
import { Operation, type OperationHandler, type OperationRequest } from '../../operation/operation';
import { callParametersOf } from './destination-call';
import { DestinationPrincipal } from '../destinations/destination-principal';

/** Sends a sample like an event, and grades the receiver's responses. */
@Injectable()
@Operation({
  resourceType: 'SvcTopicDestination',
  code: 'test',
  level: 'instance',
  methods: ['POST'],
  exampleId: 'hook-1',
  exampleBody: { resourceType: 'Parameters' },
  tag: 'Topics',
  description: 'Sends a sample to the webhook, and grades the responses',
  details:
    'A notification without events, signed as all are, sent up to three times: once; a second time, as deliveries can repeat; and with a wrong signature, which should be refused. Each finding has a name, a grade (pass, warn, fail) and advice. $status does not count it.',
  exampleAnswer: {
    resourceType: 'Parameters',
    parameter: [
      { name: 'grade', valueCode: 'fail' },
      {
        name: 'finding',
        part: [
          { name: 'name', valueCode: 'answer' },
          { name: 'grade', valueCode: 'fail' },
          { name: 'message', valueString: 'Connection refused' },
        ],
      },
    ],
  },
  answerParts: { grade: 'code', finding: { name: 'code', grade: 'code', message: 'string' } },
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
    const findings = await this.trials.test(id, parameters.get('endpoint'));
    return parametersAnswer([
      { name: 'grade', valueCode: worstOf(findings) },
      ...findings.map(({ name, grade, message }) => ({
        name: 'finding',
        part: [
          { name: 'name', valueCode: name },
          { name: 'grade', valueCode: grade },
          { name: 'message', valueString: message },
        ],
      })),
    ]);
  }
}

const worstOf = (findings: readonly Finding[]): Finding['grade'] =>
  (['fail', 'warn'] as const).find((worse) => findings.some(({ grade }) => grade === worse)) ?? 'pass';
