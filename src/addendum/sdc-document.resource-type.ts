import { Injectable } from '@nestjs/common';
import { DefinesResourceType } from '../model/resource-type';

/** A structured document; beyond these members its content is open (interface, "SDCDocument / SDCWorkflow"). */
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
