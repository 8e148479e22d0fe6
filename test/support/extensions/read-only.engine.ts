import { Injectable } from '@nestjs/common';
import { type AccessPolicy } from '../../../src/access/access-policy';
import { type AccessRequest, EngineOf, type PolicyEngine } from '../../../src/access/policy-engine';

const READING = ['FhirRead', 'FhirVread', 'FhirHistory', 'FhirSearch'];

@Injectable()
@EngineOf('acme-read-only')
export class ReadOnlyEngine implements PolicyEngine {
  grants(_policy: AccessPolicy, { operationId }: AccessRequest): boolean {
    return operationId !== undefined && READING.includes(operationId);
  }
}
