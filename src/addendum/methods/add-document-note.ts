import { type JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { NOTE } from '../types/addendum-kinds';
import { exampleAddendum } from '../params/example-addendum';
import { UserAddenda } from '../store/user-addenda';
import { NoteByIdParams } from './note-by-id-params';

/** Adds a Note to a signed document, which is named by its id. */
@RpcMethod({
  method: 'svc.sdc/add-note',
  params: NoteByIdParams,
  enforcesRows: true,
  description: 'Adds a Note to a document that is completed or amended.',
  example: { id: 'vitals-1', user: { id: 'doc-1', resourceType: 'User' }, text: 'The patient was seated.' },
  resultSchema: { $ref: '#/components/schemas/SDCNote' },
  exampleResult: exampleAddendum(NOTE, { text: 'The patient was seated.' }),
})
export class AddDocumentNote implements RpcHandler<NoteByIdParams, JsonText> {
  constructor(private readonly addenda: UserAddenda) {}

  execute({ id, user, text }: NoteByIdParams, call: RpcCall): Promise<JsonText> {
    const target = { id, resourceType: 'SDCDocument' };
    return this.addenda.add({ type: NOTE, target, user, content: JSON.stringify({ text }) }, call, ['id']);
  }
}
