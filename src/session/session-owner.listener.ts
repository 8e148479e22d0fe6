import { Injectable } from '@nestjs/common';
import { mayAct } from '../resource/may-act';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../resource/hooks/resource-change';
import { Sessions } from './sessions';

/** Closes the Sessions of a deleted or deactivated User or Client, in the same transaction. */
@Injectable()
@OnResourceChange({ types: ['User', 'Client'] })
export class SessionOwnerListener implements ResourceChangeListener {
  constructor(private readonly sessions: Sessions) {}

  async onChange({ type, id, current }: ResourceChange): Promise<void> {
    const owner = type === 'User' ? 'User' : 'Client';
    if (mayAct(owner, current?.value)) return;
    await this.sessions.closeAllOf(owner, id);
  }
}
