import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { Slices } from '../platform/time/slices';
import { type Resource } from '../fhir/types';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../resource/hooks/resource-change';
import { type Caller } from '../platform/request/caller';
import { RequestContext } from '../platform/request/request-context';
import { type ResourceDraft } from '../model/resource-draft';
import { AUTHENTICATION, interactionCoding, LOGIN, LOGOUT, REST } from './audit-codes';
import { type AuditRecord } from './audit-event';
import { AuditTrail } from './audit-trail';
import { patientsOf } from './patients-of';

/** Types that control access, or where data is sent: the mode `security` records their changes. */
const SECURITY_TYPES = new Set([
  'Session',
  'Client',
  'User',
  'Role',
  'AccessPolicy',
  'SvcSubscriptionTopic',
  'SvcTopicDestination',
]);

const ACTIONS = { create: 'C', update: 'U', delete: 'D' } as const;

/** Stores the AuditEvents of changes by the statement that stores the changes, so a rollback removes both. */
@Injectable()
@OnResourceChange(undefined)
export class ChangeAuditListener implements ResourceChangeListener {
  constructor(
    private readonly trail: AuditTrail,
    private readonly environment: Environment,
    private readonly unitOfWork: UnitOfWork,
    private readonly slices: Slices,
    private readonly requests: RequestContext,
  ) {}

  concerns(type: string): Promise<boolean> {
    const { audit } = this.environment;
    const isRecorded = audit === 'all' ? type !== 'AuditEvent' : audit === 'security' && SECURITY_TYPES.has(type);
    return Promise.resolve(isRecorded);
  }

  async adds(change: ResourceChange): Promise<readonly ResourceDraft[]> {
    const { type, id, version, interaction, method, current, previous } = change;
    const value = (current ?? previous)?.value;
    const entity = { type, id, version };
    const event = this.trail.draftOf({
      type: REST,
      subtype: interactionCoding(interaction === 'update' && method === 'PATCH' ? 'patch' : interaction),
      action: ACTIONS[interaction],
      entity,
      patients: await this.slices.run(patientsOf(type, id, value, this.environment.baseUrl)),
      ...(type === 'Session' ? ofSession(change) : {}),
    });
    // Noted only after the commit: after a rollback the record is gone, so the request needs another one.
    const { present } = this.requests;
    this.unitOfWork.afterCommit(() => {
      this.trail.noteRecorded(present);
    });
    return [event];
  }
}

/** A Session begins and ends with its token, so these records are logins and logouts. */
function ofSession({ interaction, current, id }: ResourceChange): Partial<AuditRecord> {
  const session = current?.value;
  if (interaction === 'create' && session !== undefined)
    return {
      type: AUTHENTICATION,
      subtype: LOGIN,
      action: 'E',
      agent: ownerOf(session, id),
      operation: session.type as string,
    };
  return session?.active === true ? {} : { type: AUTHENTICATION, subtype: LOGOUT, action: 'E' };
}

const ownerOf = ({ user, client }: Resource, sessionId: string): Partial<Caller> => {
  const [userId, clientId] = [idOf(user), idOf(client)];
  return { sessionId, ...(userId === undefined ? {} : { userId }), ...(clientId === undefined ? {} : { clientId }) };
};

const idOf = (reference: unknown): string | undefined => (reference as { readonly id?: string } | undefined)?.id;
