import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type Resource } from '../fhir/types';
import { ServiceError } from '../platform/errors/service-error';
import { Clock } from '../platform/time/clock';
import { type ResourceDraft } from '../model/resource-draft';
import { ForResourceType, type ResourceRule } from '../resource/hooks/resource-rule';
import { SessionTokens } from './session-tokens.repository';

/** What a Session is bound to: a write through the REST API may close a Session, but not move it to somebody else. */
const BOUND_MEMBERS = [
  'user',
  'client',
  'type',
  'parent',
  'start',
  'exp',
  'refresh_token_exp',
  'scope',
  'audience',
  'on-behalf',
  'jti',
  'iss',
  'access_token',
  'refresh_token',
  'authorization_code',
] as const;

/** Sessions are opened by the token endpoint and can be closed by anybody who may write them. */
@Injectable()
@ForResourceType('Session')
export class SessionRule implements ResourceRule {
  constructor(
    private readonly tokens: SessionTokens,
    private readonly clock: Clock,
  ) {}

  check({ value }: ResourceDraft): void {
    if (typeof value.active !== 'boolean') throw refused('active', 'must be true or false');
  }

  async store(draft: ResourceDraft, _checked: unknown, previous: Resource | undefined): Promise<void> {
    if (previous === undefined) {
      // A Session stands for an access token (interface, "Session"): without one it would record what never was.
      if (!(await this.tokens.isLive(draft.id ?? ''))) throw refused('active', 'begins with POST /auth/token only');
      return;
    }
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
  new ServiceError('unprocessable', `Session.${member} ${reason}.`, { expression: `Session.${member}` });
