import { JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { Addenda } from '../store/addenda';
import { SAVE } from './document-status';
import { SaveDocumentParams } from './document-params';
import { Documents } from './documents';

/** Replaces the content of an unsigned document. A draft becomes in-progress. */
@RpcMethod({
  method: 'svc.sdc/save',
  params: SaveDocumentParams,
  target: { param: 'document', type: 'SDCDocument' },
  enforcesRows: true,
  writes: () => true,
  description: 'Replaces the content of a stored document that is draft, in-progress or in-amendment.',
  example: {
    document: {
      resourceType: 'SDCDocument',
      id: 'vitals-2',
      type: 'clinic.forms/VitalsDocument',
      patient: { resourceType: 'Patient', id: 'p7' },
      '8310-5': { value: 37.2, unit: 'Cel' },
    },
  },
  resultSchema: { $ref: '#/components/schemas/SDCSavedDocument' },
})
export class SaveDocument implements RpcHandler<SaveDocumentParams, JsonText> {
  constructor(
    private readonly documents: Documents,
    private readonly addenda: Addenda,
  ) {}

  async execute({ document: { id, meta } }: SaveDocumentParams, call: RpcCall): Promise<JsonText> {
    const sent = { text: call.text('document') ?? '{}', versionId: meta?.versionId };
    const { stored } = await this.documents.change(id, SAVE, sent);
    return new JsonText(`{"document":${stored.text}}`);
  }

  repeat({ document }: SaveDocumentParams, kept: JsonText): Promise<JsonText> {
    return this.addenda.repeated({ id: document.id, resourceType: 'SDCDocument' }, kept);
  }
}
