import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/fhir-answer';
import { softwareVersion } from '../platform/software-version';
import { Operation, type OperationHandler } from './operation';

/** Which release answers, for support; plain JSON, no resource. */
@Injectable()
@Operation({
  code: 'version',
  level: 'system',
  methods: ['GET'],
  description: 'The version of this server',
})
export class VersionOperation implements OperationHandler {
  execute(): Promise<FhirAnswer> {
    return Promise.resolve({ status: 200, text: JSON.stringify({ version: softwareVersion() }) });
  }
}
