import { Injectable } from '@nestjs/common';
import { DefinesResourceType, refusedToAll } from '../model/resource-type';

/** A structured document, which may have any members (interface specification, "SDCDocument / SDCWorkflow"). */
@Injectable()
@DefinesResourceType({
  type: 'SDCDocument',
  isNative: true,
  searchParameters: [
    { code: 'patient', kind: 'reference', expression: 'SDCDocument.patient', targets: ['Patient'] },
    { code: 'encounter', kind: 'reference', expression: 'SDCDocument.encounter', targets: ['Encounter'] },
    { code: 'author', kind: 'reference', expression: 'SDCDocument.author', targets: ['User'] },
    { code: 'status', kind: 'token', expression: 'SDCDocument.status' },
    { code: 'type', kind: 'token', expression: 'SDCDocument.type' },
  ],
})
export class SdcDocumentResourceType {}

const inWorkflow = (member: string): string => `SDCWorkflow.${member} | SDCWorkflow.ctx.${member}`;

/**
 * A workflow of documents, which may have any members. Patient and encounter are members of the workflow (interface
 * specification, "SDCDocument / SDCWorkflow") or of its `ctx`.
 */
@Injectable()
@DefinesResourceType({
  type: 'SDCWorkflow',
  isNative: true,
  searchParameters: [
    { code: 'patient', kind: 'reference', expression: inWorkflow('patient'), targets: ['Patient'] },
    { code: 'status', kind: 'token', expression: 'SDCWorkflow.status' },
    { code: 'encounter', kind: 'reference', expression: inWorkflow('encounter'), targets: ['Encounter'] },
    { code: 'author', kind: 'reference', expression: 'SDCWorkflow.author', targets: ['User'] },
    { code: 'type', kind: 'token', expression: 'SDCWorkflow.type' },
  ],
})
export class SdcWorkflowResourceType {}

/** An addendum. Only the RPC methods write addenda, so that no addendum can be forged or lost. */
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
