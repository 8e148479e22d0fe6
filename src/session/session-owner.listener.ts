import { Injectable } from '@nestjs/common';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../resource/resource-change';
import { Sessions } from './sessions';

/** A User or Client that is deleted or set inactive loses its Sessions in the same transaction. */
@Injectable()
@OnResourceChange({ types: ['User', 'Client'] })
export class SessionOwnerListener implements ResourceChangeListener {
  constructor(private readonly sessions: Sessions) {}

  async onChange({ type, id, current }: ResourceChange): Promise<void> {
    const isOut =
      current === undefined || (type === 'User' ? current.value.inactive === true : current.value.active === false);
    if (isOut) await this.sessions.closeAllOf(type === 'User' ? { userId: id } : { clientId: id });
  }
}
