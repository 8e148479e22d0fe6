import { Injectable } from '@nestjs/common';
import { ServiceError } from '../platform/errors/service-error';
import { type ResourceDraft } from '../model/resource-draft';
import { ForResourceType, type ResourceRule } from '../resource/hooks/resource-rule';
import { hasServerTag, SERVER_RECORD } from './audit-codes';

/** Keeps the server's security tag to the server's own records. */
@Injectable()
@ForResourceType('AuditEvent')
export class AuditEventRule implements ResourceRule {
  check(draft: ResourceDraft): void {
    if (draft.isOwn || !hasServerTag(draft.value)) return;
    throw new ServiceError(
      'unprocessable',
      `Security tags of ${SERVER_RECORD.system} are for the records of the server itself. Leave the tag out.`,
      { expression: 'AuditEvent.meta.security' },
    );
  }
}
