import { JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { Addenda } from '../store/addenda';
import { Revisions } from '../store/revisions';
import { AMEND } from './document-status';
import { AmendDocumentParams } from './document-params';
import { Documents, withMetaOf } from './documents';

/** Opens a signed document for changes. A document that is already open is returned unchanged. */
@RpcMethod({
  method: 'svc.sdc/amend',
  params: AmendDocumentParams,
  target: { param: 'id', type: 'SDCDocument' },
  enforcesRows: true,
  writes: ({ 'dry-run': isDryRun }: AmendDocumentParams) => isDryRun !== true,
  description:
    'Opens a document that is completed or amended: it becomes in-amendment, and a History without snapshot is stored. Called again it answers the same document.',
  example: { id: 'vitals-1', user: { id: 'doc-1', resourceType: 'User' }, 'dry-run': true },
  resultSchema: { $ref: '#/components/schemas/SDCDocument' },
})
export class AmendDocument implements RpcHandler<AmendDocumentParams, JsonText> {
  constructor(
    private readonly documents: Documents,
    private readonly revisions: Revisions,
    private readonly addenda: Addenda,
  ) {}

  execute({ id, user, 'dry-run': isDryRun = false }: AmendDocumentParams, { caller }: RpcCall): Promise<JsonText> {
    const target = { id, resourceType: 'SDCDocument' };
    const author = this.addenda.authorOf(user, caller);
    return this.documents.transact(isDryRun, async () => {
      const { before, from, to, stored } = await this.documents.changeHeld(id, AMEND);
      if (from !== to) {
        // A PUT may have signed or changed the body since the last snapshot, so the body is recorded first.
        await this.revisions.recordIfNew({ target, author, status: String(from), body: before });
        await this.revisions.recordStatus({ target, author, status: to, body: stored.text });
      }
      return new JsonText(isDryRun ? withMetaOf(before, stored) : stored.text);
    });
  }

  repeat({ id }: AmendDocumentParams, kept: JsonText): Promise<JsonText> {
    return this.addenda.repeated({ id, resourceType: 'SDCDocument' }, kept);
  }
}
