import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { KeptOn } from '../platform/kept-on';
import { type PresentRequest, RequestContext } from '../platform/request/request-context';
import { Clock } from '../platform/time/clock';
import { ResourceDraft } from '../model/resource-draft';
import { ResourceWriter } from '../resource/resource-writer';
import { type AuditRecord, auditEventOf } from './audit-event';

/** Writes AuditEvents in the open unit of work, else in a new one. */
@Injectable()
export class AuditTrail {
  /** Requests whose changes were recorded one by one. Each entry of a batch is a separate request. */
  private readonly recorded = new KeptOn<PresentRequest, true>();

  constructor(
    private readonly writer: ResourceWriter,
    private readonly requests: RequestContext,
    private readonly clock: Clock,
    private readonly environment: Environment,
  ) {}

  async record(record: AuditRecord): Promise<void> {
    await this.writer.create(this.draftOf(record));
  }

  /** Returns the AuditEvent of a record, so that a caller can store it together with the recorded change. */
  draftOf(record: AuditRecord): ResourceDraft {
    const { requestId, correlationId, origin, caller, claimed } = this.requests;
    const event = auditEventOf(
      { agent: caller ?? claimed ?? {}, ...record },
      {
        baseUrl: this.environment.baseUrl,
        recorded: this.clock.now(),
        address: origin?.ip,
        requestId,
        correlationId,
      },
    );
    return ResourceDraft.own('AuditEvent', event);
  }

  /** Notes that the changes of a request are recorded. */
  noteRecorded(request: PresentRequest | undefined): void {
    if (request !== undefined) this.recorded.set(request, true);
  }

  /** Whether changes of the current request were recorded. */
  get isRecorded(): boolean {
    const { present } = this.requests;
    return present !== undefined && this.recorded.get(present) === true;
  }
}
