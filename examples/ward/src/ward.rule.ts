import { Injectable } from '@nestjs/common';
import { ForResourceType, type ResourceDraft, type ResourceRule, ServiceError } from 'svc-health-server';

@Injectable()
@ForResourceType('Ward')
export class WardRule implements ResourceRule {
  check({ value }: ResourceDraft): void {
    if (Number.isInteger(value.beds) && Number(value.beds) >= 0) return;
    throw new ServiceError('unprocessable', 'beds must be a whole number from 0 on.', { expression: 'Ward.beds' });
  }
}
