import { IsNotEmpty, IsString } from 'class-validator';
import { type JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { NOTE } from '../addendum-kinds';
import { exampleAddendum } from '../example-addendum';
import { Authors } from '../authors';
import { IsShapedLike } from '../param-checks';
import { UserReference } from '../references';
import { UserAddenda } from '../user-addenda';

export class AddDocumentNoteParams {
  @IsNotEmpty()
  @IsString()
  id!: string;

  @IsShapedLike(UserReference)
  user!: UserReference;

  @IsNotEmpty()
  @IsString()
  text!: string;
}

/** Adds a Note to a signed document, which is named by its id. */
@RpcMethod({
  method: 'svc.sdc/add-note',
  params: AddDocumentNoteParams,
  enforcesRows: true,
  description: 'Adds a Note to a document that is completed or amended.',
  example: { id: 'vitals-1', user: { id: 'doc-1', resourceType: 'User' }, text: 'The patient was seated.' },
  exampleResult: exampleAddendum(NOTE, { text: 'The patient was seated.' }),
})
export class AddDocumentNote implements RpcHandler<AddDocumentNoteParams, JsonText> {
  constructor(
    private readonly addenda: UserAddenda,
    private readonly authors: Authors,
  ) {}

  execute({ id, user, text }: AddDocumentNoteParams, { caller }: RpcCall): Promise<JsonText> {
    const target = { id, resourceType: 'SDCDocument' };
    const author = this.authors.of(user, caller);
    return this.addenda.add({ type: NOTE, target, author, content: JSON.stringify({ text }) });
  }
}
