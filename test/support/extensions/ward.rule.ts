import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../../src/platform/errors/service-error';
import { type ResourceDraft } from '../../../src/model/resource-draft';
import { ForResourceType, type ResourceRule } from '../../../src/resource/hooks/resource-rule';

@Injectable()
@ForResourceType('Ward')
export class WardRule implements ResourceRule {
  check({ value }: ResourceDraft): void {
    if (Number.isInteger(value.beds) && Number(value.beds) >= 0) return;
    throw new ServiceError('unprocessable', 'beds must be a whole number from 0 on.', { expression: 'Ward.beds' });
  }
}
