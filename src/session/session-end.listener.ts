import { Injectable } from '@nestjs/common';
import { RequestContext } from '../platform/request/request-context';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../resource/hooks/resource-change';
import { SessionTokens } from './session-tokens.repository';

/** However a Session ends (DELETE /Session, PUT, DELETE /Session/id), its tokens end in the same transaction. */
@Injectable()
@OnResourceChange({ types: ['Session'] })
export class SessionEndListener implements ResourceChangeListener {
  constructor(
    private readonly tokens: SessionTokens,
    private readonly requests: RequestContext,
  ) {}

  async onChange({ id, current }: ResourceChange): Promise<void> {
    this.requests.noteCallerChange();
    if (current === undefined || current.value.active === false) await this.tokens.close(id);
  }
}
