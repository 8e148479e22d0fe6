import { IsNotEmpty, IsString } from 'class-validator';
import { type JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { COMMENT } from '../types/addendum-kinds';
import { IfSent, IsMemberPath, IsShapedLike } from '../params/param-checks';
import { TargetParams, UserReference } from '../params/references';
import { Addenda } from '../store/addenda';

export class AddCommentParams extends TargetParams {
  @IsShapedLike(UserReference)
  user!: UserReference;

  @IsNotEmpty()
  @IsString()
  text!: string;

  /** Path to the value in the target that the comment is about. */
  @IfSent()
  @IsMemberPath()
  path?: string[];
}

/** Adds a Comment to a target in any status (interface specification, "Addendum RPC", rule 2). */
@RpcMethod({
  method: 'svc.sdc.addendum/add-comment',
  params: AddCommentParams,
  enforcesRows: true,
  writes: () => true,
  description: 'Adds an informal Comment to a document or workflow, or to the value of it that path names.',
  example: {
    target: { id: 'vitals-1', resourceType: 'SDCDocument' },
    user: { id: 'doc-1', resourceType: 'User' },
    text: 'Please measure again.',
    path: ['loinc-8480-6', 'value'],
  },
  resultSchema: { $ref: '#/components/schemas/SDCComment' },
})
export class AddComment implements RpcHandler<AddCommentParams, JsonText> {
  constructor(private readonly addenda: Addenda) {}

  execute({ target, user, text, path }: AddCommentParams, call: RpcCall): Promise<JsonText> {
    return this.addenda.addSent({ type: COMMENT, target, user, content: JSON.stringify({ text, path }) }, call);
  }

  repeat({ target }: AddCommentParams, kept: JsonText): Promise<JsonText> {
    return this.addenda.repeated(target, kept);
  }
}
