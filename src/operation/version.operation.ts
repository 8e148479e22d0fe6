import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../platform/http/known-parameters';
import { softwareVersion } from '../platform/software-version';
import { Operation, type OperationHandler, type OperationRequest } from './operation';

/** Returns the release of the server, for support. The answer is plain JSON, not a resource. */
@Injectable()
@Operation({
  code: 'version',
  level: 'system',
  methods: ['GET'],
  description: 'The version of this server',
})
export class VersionOperation implements OperationHandler {
  execute({ query, headers }: OperationRequest): Promise<FhirAnswer> {
    assertKnownParameters('$version', query, SHAPE_PARAMETERS, headers.prefer);
    return Promise.resolve({ status: 200, text: JSON.stringify({ version: softwareVersion() }) });
  }
}
