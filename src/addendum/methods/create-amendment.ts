import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { Addenda } from '../store/addenda';
import { Revisions } from '../store/revisions';
import { IsShapedLike } from '../params/param-checks';
import { TargetParams, UserReference } from '../params/references';

export class CreateAmendmentParams extends TargetParams {
  @IsShapedLike(UserReference)
  user!: UserReference;
}

/** Stores the difference of the two latest snapshots (interface specification, "Addendum RPC", rule 4). */
@RpcMethod({
  method: 'svc.sdc.addendum/create-amendment',
  params: CreateAmendmentParams,
  enforcesRows: true,
  writes: () => true,
  description: 'Stores the difference of the two latest snapshots; answers null when there are fewer than two.',
  example: { target: { id: 'vitals-1', resourceType: 'SDCDocument' }, user: { id: 'doc-1', resourceType: 'User' } },
  resultSchema: { type: 'object', nullable: true, allOf: [{ $ref: '#/components/schemas/SDCAmendment' }] },
})
export class CreateAmendment implements RpcHandler<CreateAmendmentParams, JsonText | undefined> {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly addenda: Addenda,
    private readonly revisions: Revisions,
  ) {}

  execute({ target, user }: CreateAmendmentParams, { caller }: RpcCall): Promise<JsonText | undefined> {
    const author = this.addenda.authorOf(user, caller);
    return this.unitOfWork.run(async () => {
      await this.addenda.holdTarget(target, ['target']);
      return this.revisions.recordAmendment(target, author);
    });
  }

  repeat({ target }: CreateAmendmentParams, kept: JsonText): Promise<JsonText> {
    return this.addenda.repeated(target, kept);
  }
}
