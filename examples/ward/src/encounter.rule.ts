import { Injectable } from '@nestjs/common';
import type { Encounter } from 'fhir/r4';
import { ForResourceType, type ResourceDraft, type ResourceRule, ServiceError, viewOf } from 'svc-health-server';

@Injectable()
@ForResourceType('Encounter')
export class EncounterRule implements ResourceRule {
  check(draft: ResourceDraft): void {
    const { status, location } = viewOf<Encounter>(draft, 'Encounter');
    if (status !== 'in-progress' || location !== undefined) return;
    throw new ServiceError('unprocessable', 'An encounter in progress names its ward.', {
      expression: 'Encounter.location',
    });
  }
}
