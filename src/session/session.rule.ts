import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type Resource } from '../fhir/types';
import { ServiceError } from '../platform/errors/service-error';
import { RequestContext } from '../platform/request/request-context';
import { Clock } from '../platform/time/clock';
import { type ResourceDraft } from '../model/resource-draft';
import { DefinesResourceType } from '../model/resource-type';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../resource/hooks/resource-change';
import { ForResourceType, type ResourceRule } from '../resource/hooks/resource-rule';
import { SESSION_SHAPE } from './session.shape';
import { SessionTokens } from './session-tokens.repository';

/** Members that never change: a caller may close a Session, but not give it to another owner. */
const BOUND_MEMBERS = [
  ...['user', 'client', 'type', 'parent', 'start', 'exp', 'refresh_token_exp', 'scope', 'audience', 'on-behalf'],
  ...['jti', 'iss', 'access_token', 'refresh_token', 'authorization_code'],
];

/**
 * One Session per access token (interface specification, "Session"). The token endpoint opens it; callers with write
 * access can close it. However a Session is closed (DELETE /Session, PUT, DELETE /Session/id), its tokens end in the
 * same transaction.
 */
@Injectable()
@DefinesResourceType({
  type: 'Session',
  isNative: true,
  shape: SESSION_SHAPE,
  refusedWrites: {
    create: { message: 'A Session begins with a token only: send POST /auth/token.', kind: 'unprocessable' },
    'conditional-delete': {
      message: 'A Session is closed by its id, or by its token: DELETE /Session without criteria.',
    },
  },
  searchParameters: [
    { code: 'user', kind: 'reference', expression: 'Session.user', targets: ['User'] },
    { code: 'client', kind: 'reference', expression: 'Session.client', targets: ['Client'] },
    { code: 'parent', kind: 'reference', expression: 'Session.parent', targets: ['Session'] },
    { code: 'active', kind: 'token', expression: 'Session.active' },
    { code: 'type', kind: 'token', expression: 'Session.type' },
    { code: 'start', kind: 'date', expression: 'Session.start' },
  ],
})
@ForResourceType('Session')
@OnResourceChange({ types: ['Session'] })
export class SessionRule implements ResourceRule, ResourceChangeListener {
  constructor(
    private readonly tokens: SessionTokens,
    private readonly requests: RequestContext,
    private readonly clock: Clock,
  ) {}

  check({ value }: ResourceDraft): void {
    if (typeof value.active !== 'boolean') throw refused('active', 'must be true or false');
  }

  store(draft: ResourceDraft, _checked: unknown, previous: Resource | undefined): Promise<void> {
    if (previous !== undefined) this.change(draft, previous);
    // A Session that a caller sends would record a login that never happened.
    else if (!draft.isOwn) throw refused('active', 'begins with POST /auth/token only');
    return Promise.resolve();
  }

  async onChange({ id, current }: ResourceChange): Promise<void> {
    this.requests.noteCallerChange();
    if (current === undefined || current.value.active === false) await this.tokens.close(id);
  }

  private change(draft: ResourceDraft, previous: Resource): void {
    const { value } = draft;
    for (const member of BOUND_MEMBERS) {
      if (!isDeepStrictEqual(value[member], previous[member])) throw refused(member, 'cannot be changed');
    }
    if (value.active === true) {
      if (previous.active === false) throw refused('active', 'cannot become true again: a closed Session stays closed');
      if (value.end !== undefined) throw refused('end', 'is for closed Sessions');
      return;
    }
    draft.setMember('end', JSON.stringify(previous.end ?? this.clock.now().toISOString()));
  }
}

const refused = (member: string, reason: string): ServiceError =>
  new ServiceError('session-invalid', `Session.${member} ${reason}.`, { expression: `Session.${member}` });
