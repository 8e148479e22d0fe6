import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/fhir-answer';
import { Environment } from '../platform/config/environment';
import { Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { Compartments } from '../resource/compartment/compartments';
import { bundleText, matchEntry } from '../resource/api/resource-answer';
import { CompartmentMembers } from './compartment-members';
import { readEverythingRequest } from './everything-request';

/** All that belongs to a patient, by the stored compartment definition (interface, "Patient everything"). */
@Injectable()
@Operation({
  resourceType: 'Patient',
  code: 'everything',
  level: 'instance',
  methods: ['GET'],
  enforcesRows: true,
  description: 'The patient and every resource that the stored CompartmentDefinition links to it.',
  parameters: [
    { name: '_since', description: 'Only what was created or updated after this instant' },
    { name: '_timeout', description: 'Seconds that the underlying queries may take' },
  ],
})
export class PatientEverything implements OperationHandler {
  constructor(
    private readonly compartments: Compartments,
    private readonly members: CompartmentMembers,
    private readonly environment: Environment,
  ) {}

  async execute({ id = '', query, headers, rootUrl }: OperationRequest): Promise<FhirAnswer> {
    const request = readEverythingRequest(query, {
      prefer: headers.prefer,
      maxTimeoutSeconds: this.environment.everythingTimeoutMaxSeconds,
    });
    const { parameterIds } = await this.compartments.of('Patient');
    const resources = await this.members.read(id, parameterIds, request);
    const parameters = request.used.toString();
    const url = `${rootUrl}/Patient/${id}/$everything${parameters === '' ? '' : `?${parameters}`}`;
    const entries = resources.map((resource) => matchEntry(rootUrl, resource));
    return {
      status: 200,
      text: bundleText('searchset', { total: entries.length, link: [{ relation: 'self', url }] }, entries),
    };
  }
}
