import { Injectable } from '@nestjs/common';
import { DefinesResourceType } from '../resource/resource-type';

/** Written by the server alone, and never changed or deleted by a call: who is recorded must not be able to mend the record. */
@Injectable()
@DefinesResourceType({ type: 'AuditEvent', isReadOnly: true })
export class AuditEventResourceType {}
