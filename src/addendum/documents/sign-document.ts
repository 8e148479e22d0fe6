import { JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { Addenda } from '../store/addenda';
import { Revisions } from '../store/revisions';
import { SIGN } from './document-status';
import { SignDocumentParams } from './document-params';
import { Documents, withMetaOf } from './documents';

/** Some callers expect the member `exported`. It is empty, since no resources are extracted from documents. */
const EXPORTED = '{"to-create":[],"to-update":[],"to-delete":[]}';

/** Signs a document. Content, status, History and, after an amendment, Amendment are stored together or not at all. */
@RpcMethod({
  method: 'svc.sdc/sign',
  params: SignDocumentParams,
  target: { param: 'document', type: 'SDCDocument' },
  enforcesRows: true,
  writes: ({ 'dry-run': isDryRun }: SignDocumentParams) => isDryRun !== true,
  description:
    'Signs a document: draft and in-progress become completed, in-amendment becomes amended. The History with its snapshot, and after an amendment the Amendment, are stored with it.',
  example: {
    document: {
      resourceType: 'SDCDocument',
      id: 'vitals-2',
      type: 'clinic.forms/VitalsDocument',
      patient: { resourceType: 'Patient', id: 'p7' },
      '8310-5': { value: 37.4, unit: 'Cel' },
    },
    user: { id: 'doc-1', resourceType: 'User' },
  },
  resultSchema: { $ref: '#/components/schemas/SDCSignedDocument' },
})
export class SignDocument implements RpcHandler<SignDocumentParams, JsonText> {
  constructor(
    private readonly documents: Documents,
    private readonly revisions: Revisions,
    private readonly addenda: Addenda,
  ) {}

  execute({ document, user, 'dry-run': isDryRun = false }: SignDocumentParams, call: RpcCall): Promise<JsonText> {
    const target = { id: document.id, resourceType: 'SDCDocument' };
    const author = this.addenda.authorOf(user, call.caller);
    const sent = { text: call.text('document') ?? '{}', versionId: document.meta?.versionId };
    return this.documents.transact(isDryRun, async () => {
      const { before, from, to, stored } = await this.documents.changeHeld(document.id, SIGN, sent);
      const { isChanged } = await this.revisions.recordStatus({ target, author, status: to, body: stored.text });
      // If the body did not change, no new snapshot was stored, and the difference of the latest two snapshots is
      // already recorded.
      if (from === 'in-amendment' && isChanged) await this.revisions.recordAmendment(target, author);
      const shown = isDryRun ? withMetaOf(before, stored) : stored.text;
      return new JsonText(`{"document":${shown},"exported":${EXPORTED}}`);
    });
  }

  repeat({ document }: SignDocumentParams, kept: JsonText): Promise<JsonText> {
    return this.addenda.repeated({ id: document.id, resourceType: 'SDCDocument' }, kept);
  }
}
