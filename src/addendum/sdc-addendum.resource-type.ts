import { Injectable } from '@nestjs/common';
import { DefinesResourceType, refusedToAll } from '../model/resource-type';

/** Written by the RPC methods alone, so that nothing is forged or lost beside them. */
@Injectable()
@DefinesResourceType({
  type: 'SDCAddendum',
  isNative: true,
  refusedWrites: refusedToAll(
    'SDCAddendum is written by RPC methods: send POST /rpc with svc.sdc.addendum/create-addendum, add-note, add-comment, add-to-history or create-amendment. Nothing changes or deletes an addendum.',
  ),
  searchParameters: [
    { code: 'target', kind: 'reference', expression: 'SDCAddendum.target', targets: ['SDCDocument', 'SDCWorkflow'] },
    { code: 'user', kind: 'reference', expression: 'SDCAddendum.user', targets: ['User'] },
    { code: 'type', kind: 'token', expression: 'SDCAddendum.type' },
    { code: 'date', kind: 'date', expression: 'SDCAddendum.date' },
  ],
})
export class SdcAddendumResourceType {}
