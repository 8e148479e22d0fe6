import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../../src/platform/errors/service-error';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../../src/resource/hooks/resource-change';

@Injectable()
@OnResourceChange({ types: ['SDCDocument'] })
export class SignedDocumentListener implements ResourceChangeListener {
  onChange({ interaction, previous }: ResourceChange): Promise<void> {
    const isLost = interaction === 'delete' && previous?.value.status === 'completed';
    return isLost ? Promise.reject(new ServiceError('conflict', 'A completed document is kept.')) : Promise.resolve();
  }
}
