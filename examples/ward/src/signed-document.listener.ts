import { Injectable } from '@nestjs/common';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener, ServiceError } from 'svc-health-server';

@Injectable()
@OnResourceChange({ types: ['SDCDocument'] })
export class SignedDocumentListener implements ResourceChangeListener {
  onChange({ interaction, previous }: ResourceChange): Promise<void> {
    const isLost = interaction === 'delete' && previous?.value.status === 'completed';
    return isLost ? Promise.reject(new ServiceError('conflict', 'A completed document is kept.')) : Promise.resolve();
  }
}
