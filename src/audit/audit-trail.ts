import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { RequestContext } from '../platform/request/request-context';
import { Clock } from '../platform/time/clock';
import { ResourceDraft } from '../model/resource-draft';
import { ResourceWriter } from '../resource/resource-writer';
import { type AuditRecord, auditEventOf } from './audit-event';

/** Writes AuditEvents: in the open unit of work, else in one of their own. */
@Injectable()
export class AuditTrail {
  constructor(
    private readonly writer: ResourceWriter,
    private readonly requests: RequestContext,
    private readonly clock: Clock,
    private readonly environment: Environment,
  ) {}

  async record(record: AuditRecord): Promise<void> {
    await this.writer.create(this.draftOf(record));
  }

  /** The AuditEvent of a record, for who stores it with what it records. */
  draftOf(record: AuditRecord): ResourceDraft {
    const { requestId, correlationId, origin } = this.requests;
    const event = auditEventOf(record, {
      baseUrl: this.environment.baseUrl,
      recorded: this.clock.now(),
      address: origin?.ip,
      requestId,
      correlationId,
    });
    return ResourceDraft.own('AuditEvent', event);
  }
}
