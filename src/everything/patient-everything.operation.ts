import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { ServiceError } from '../platform/errors/service-error';
import { Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { CompartmentAnswers } from './compartment-answers';
import { EverythingCalls, type EverythingCall } from './request/everything-call';

/** Returns all resources of a patient, by the stored compartment definition ("Patient everything"). */
@Injectable()
@Operation({
  resourceType: 'Patient',
  code: 'everything',
  level: 'instance',
  methods: ['GET', 'POST'],
  enforcesRows: true,
  hasLines: true,
  definition: 'http://hl7.org/fhir/OperationDefinition/Patient-everything',
  description: 'The patient and every resource that the stored CompartmentDefinition links to it.',
  exampleBody: {
    resourceType: 'Parameters',
    parameter: [
      { name: '_type', valueCode: 'Patient,Observation' },
      { name: 'start', valueDate: '2020-01-01' },
    ],
  },
  parameters: [
    { name: '_since', description: 'Only what was created or updated after this instant' },
    { name: '_timeout', description: 'Seconds that the underlying queries may take' },
    { name: '_type', description: 'Types with commas between; the Patient only when named' },
    { name: 'start', description: 'Only what is about care on this date or later' },
    { name: 'end', description: 'Only what is about care on this date or earlier' },
    { name: '_count', description: 'Resources of a page; without it the whole comes at once' },
    {
      name: '_include',
      description: 'Adds resources that entries refer to: types, references such as Observation:performer, or *',
    },
    { name: '_elements', description: 'Elements of each resource, such as name,birthDate' },
    { name: '_summary', description: 'true, text, data, count or false' },
    { name: '_manifest', description: '1: how much there is and what is left out, instead of the resources' },
    { name: '_explain', description: '1: SQL and plan of each type in addition' },
  ],
})
export class PatientEverything implements OperationHandler {
  constructor(
    private readonly calls: EverythingCalls,
    private readonly answers: CompartmentAnswers,
  ) {}

  async execute(operation: OperationRequest): Promise<FhirAnswer> {
    const call = await this.calls.read(operation);
    if (call.format.isLines === true) assertWhole(call);
    return this.answers.of(call);
  }
}

function assertWhole({ request }: EverythingCall): void {
  const { count, cursor, subset, isManifest, explain } = request;
  if (count === undefined && cursor === undefined && subset !== 'count' && !isManifest && explain === undefined) return;
  throw new ServiceError(
    'parameters-exclusive',
    'NDJSON holds all resources and nothing else: _count, _cursor, _summary=count, _manifest and _explain are for JSON.',
  );
}
