import { Injectable } from '@nestjs/common';
import { DefinesResourceType } from '../resource/resource-type';

/** A workflow of documents; its content is open. */
@Injectable()
@DefinesResourceType({
  type: 'SDCWorkflow',
  isNative: true,
  searchParameters: [
    { code: 'patient', kind: 'reference', expression: 'SDCWorkflow.ctx.patient', targets: ['Patient'] },
    { code: 'status', kind: 'token', expression: 'SDCWorkflow.status' },
  ],
})
export class SdcWorkflowResourceType {}
