import { Injectable } from '@nestjs/common';
import { ServiceError } from '../platform/errors/service-error';
import { type ResourceDraft } from '../model/resource-draft';
import { DefinesResourceType } from '../model/resource-type';
import { ForResourceType, type ResourceRule } from '../resource/hooks/resource-rule';
import { hasServerTag, SERVER_RECORD } from './audit-codes';

const APPEND_ONLY = {
  message: 'AuditEvents are never changed or deleted. Record what has to be added with another one: POST /AuditEvent.',
};

/** AuditEvents, of the server and of clients, can only be added. Only the server may set its security tag. */
@Injectable()
@DefinesResourceType({
  type: 'AuditEvent',
  refusedWrites: { update: APPEND_ONLY, delete: APPEND_ONLY, 'conditional-delete': APPEND_ONLY },
})
@ForResourceType('AuditEvent')
export class AuditEventRule implements ResourceRule {
  check(draft: ResourceDraft): void {
    if (draft.isOwn || !hasServerTag(draft.value)) return;
    throw new ServiceError(
      'resource-invalid',
      `Security tags of ${SERVER_RECORD.system} are for the records of the server itself. Leave the tag out.`,
      { expression: 'AuditEvent.meta.security' },
    );
  }
}
