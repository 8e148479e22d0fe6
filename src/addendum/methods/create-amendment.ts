import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { Addenda } from '../store/addenda';
import { AMENDMENT } from '../types/addendum-kinds';
import { Revisions } from '../store/revisions';
import { exampleAddendum } from '../params/example-addendum';
import { IsShapedLike } from '../params/param-checks';
import { TargetReference, UserReference } from '../params/references';

export class CreateAmendmentParams {
  @IsShapedLike(TargetReference)
  target!: TargetReference;

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
  exampleResult: exampleAddendum(AMENDMENT, {
    'old-revision': { id: '1f0c7f4e-2f9b-4a55-8c64-1d4b6f1f3a01', resourceType: 'SDCAddendum' },
    'new-revision': { id: '93a1e6c2-7d1c-4b60-a7c9-6b1a52f0d2b7', resourceType: 'SDCAddendum' },
    diff: [
      {
        type: 'replace',
        path: ['loinc-8480-6', 'value'],
        old: '118',
        'old-kind': 'number',
        new: '120',
        'new-kind': 'number',
      },
    ],
  }),
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
