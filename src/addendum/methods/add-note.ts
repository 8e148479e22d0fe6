import { IsNotEmpty, IsString } from 'class-validator';
import { type JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { NOTE } from '../types/addendum-kinds';
import { IfSent, IsDateTime, IsShapedLike } from '../params/param-checks';
import { TargetParams, UserReference } from '../params/references';
import { Addenda } from '../store/addenda';

export class AddNoteParams extends TargetParams {
  @IsShapedLike(UserReference)
  user!: UserReference;

  @IsNotEmpty()
  @IsString()
  text!: string;

  @IfSent()
  @IsDateTime()
  appointment?: string;
}

/** Adds a Note to a signed document or workflow ("Addendum RPC", rule 2). */
@RpcMethod({
  method: 'svc.sdc.addendum/add-note',
  params: AddNoteParams,
  enforcesRows: true,
  writes: () => true,
  description: 'Adds a Note to a document or workflow that is completed or amended.',
  example: {
    target: { id: 'vitals-1', resourceType: 'SDCDocument' },
    user: { id: 'doc-1', resourceType: 'User' },
    text: 'The patient was seated.',
  },
  resultSchema: { $ref: '#/components/schemas/SDCNote' },
})
export class AddNote implements RpcHandler<AddNoteParams, JsonText> {
  constructor(private readonly addenda: Addenda) {}

  execute({ target, user, text, appointment }: AddNoteParams, call: RpcCall): Promise<JsonText> {
    return this.addenda.addSent({ type: NOTE, target, user, content: JSON.stringify({ text, appointment }) }, call);
  }

  repeat({ target }: AddNoteParams, kept: JsonText): Promise<JsonText> {
    return this.addenda.repeated(target, kept);
  }
}
