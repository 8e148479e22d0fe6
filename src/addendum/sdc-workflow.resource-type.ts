import { Injectable } from '@nestjs/common';
import { DefinesResourceType } from '../model/resource-type';

/**
 * A workflow of documents; its content is open. Its patient and encounter are members of it (interface, "SDCDocument /
 * SDCWorkflow") or of `ctx`. New parameters go to the end: stored presence masks depend on the order.
 */
@Injectable()
@DefinesResourceType({
  type: 'SDCWorkflow',
  isNative: true,
  searchParameters: [
    {
      code: 'patient',
      kind: 'reference',
      expression: 'SDCWorkflow.patient | SDCWorkflow.ctx.patient',
      targets: ['Patient'],
    },
    { code: 'status', kind: 'token', expression: 'SDCWorkflow.status' },
    {
      code: 'encounter',
      kind: 'reference',
      expression: 'SDCWorkflow.encounter | SDCWorkflow.ctx.encounter',
      targets: ['Encounter'],
    },
    { code: 'author', kind: 'reference', expression: 'SDCWorkflow.author', targets: ['User'] },
    { code: 'type', kind: 'token', expression: 'SDCWorkflow.type' },
  ],
})
export class SdcWorkflowResourceType {}
