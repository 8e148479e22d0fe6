import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { ServiceError } from '../platform/errors/service-error';
import { limitedToRows } from '../platform/request/request-context';
import { Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { everythingOperation } from './everything-definition';
import { CompartmentAnswers } from './compartment-answers';
import { EverythingCalls, type EverythingCall } from './request/everything-call';

/** Returns all resources of a patient, by the stored compartment definition ("Patient everything"). */
@Injectable()
@Operation(everythingOperation)
export class PatientEverything implements OperationHandler {
  constructor(
    private readonly calls: EverythingCalls,
    private readonly answers: CompartmentAnswers,
  ) {}

  async execute(operation: OperationRequest): Promise<FhirAnswer> {
    const call = await this.calls.read(operation);
    const { request, query, format } = call;
    if (format.isLines === true) assertWhole(call);
    // Refuses `_explain` to a caller who is limited to some rows: the query plan would show counts of rows that the
    // caller may not see.
    if (request.explain !== undefined && query.limit !== undefined) throw limitedToRows();
    if (request.isManifest) return this.answers.manifest(call);
    if (request.subset === 'count') return this.answers.total(call);
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
