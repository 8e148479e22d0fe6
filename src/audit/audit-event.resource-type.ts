import { Injectable } from '@nestjs/common';
import { DefinesResourceType } from '../model/resource-type';

const APPEND_ONLY = {
  message: 'AuditEvents are never changed or deleted. Record what has to be added with another one: POST /AuditEvent.',
};

/** Created by the server and by clients, and never changed or deleted by a call: nobody may mend the record. */
@Injectable()
@DefinesResourceType({
  type: 'AuditEvent',
  refusedWrites: { update: APPEND_ONLY, delete: APPEND_ONLY, 'conditional-delete': APPEND_ONLY },
})
export class AuditEventResourceType {}
