import { type JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { NOTE } from '../types/addendum-kinds';
import { exampleAddendum } from '../params/example-addendum';
import { UserAddenda } from '../store/user-addenda';
import { NoteByIdParams } from './note-by-id-params';

/** Adds a Note to a completed workflow, which is named by its id. */
@RpcMethod({
  method: 'svc.sdc/add-workflow-note',
  params: NoteByIdParams,
  enforcesRows: true,
  description: 'Adds a Note to a workflow that is completed or amended.',
  example: { id: 'rounds-1', user: { id: 'doc-1', resourceType: 'User' }, text: 'All rooms were seen.' },
  resultSchema: { $ref: '#/components/schemas/SDCNote' },
  exampleResult: exampleAddendum(
    NOTE,
    { text: 'All rooms were seen.' },
    { id: 'rounds-1', resourceType: 'SDCWorkflow' },
  ),
})
export class AddWorkflowNote implements RpcHandler<NoteByIdParams, JsonText> {
  constructor(private readonly addenda: UserAddenda) {}

  execute({ id, user, text }: NoteByIdParams, call: RpcCall): Promise<JsonText> {
    const target = { id, resourceType: 'SDCWorkflow' };
    return this.addenda.add({ type: NOTE, target, user, content: JSON.stringify({ text }) }, call, ['id']);
  }
}
