import { Injectable } from '@nestjs/common';
import { EngineOf, type PolicyCheck, type PolicyEngine } from 'svc-health-server';

const READING = ['FhirRead', 'FhirVread', 'FhirHistory', 'FhirSearch'];

@Injectable()
@EngineOf('acme-read-only')
export class ReadOnlyEngine implements PolicyEngine {
  compile(): PolicyCheck {
    return ({ operationId = '' }) =>
      READING.includes(operationId) ? undefined : { path: 'engine', reason: 'only reading is granted' };
  }
}
