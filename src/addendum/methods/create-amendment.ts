import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { Addenda } from '../addenda';
import { AddendumEntries } from '../addendum-entries.repository';
import { AMENDMENT } from '../addendum-kinds';
import { Authors } from '../authors';
import { memberText } from '../../rpc/member-text';
import { IsShapedLike } from '../param-checks';
import { TargetReference, UserReference } from '../references';
import { diffSnapshots } from '../snapshot-diff';

export class CreateAmendmentParams {
  @IsShapedLike(TargetReference)
  target!: TargetReference;

  @IsShapedLike(UserReference)
  user!: UserReference;
}

/** Compares the two latest snapshots of a target and stores their difference (interface, "Addendum RPC", rule 4). */
@RpcMethod({
  method: 'svc.sdc.addendum/create-amendment',
  params: CreateAmendmentParams,
  enforcesRows: true,
  description: 'Stores the difference of the two latest snapshots; answers null when there are fewer than two.',
  example: { target: { id: 'vitals-1', resourceType: 'SDCDocument' }, user: { id: 'doc-1', resourceType: 'User' } },
})
export class CreateAmendment implements RpcHandler<CreateAmendmentParams, JsonText | undefined> {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly entries: AddendumEntries,
    private readonly addenda: Addenda,
    private readonly authors: Authors,
  ) {}

  execute({ target, user }: CreateAmendmentParams, { caller }: RpcCall): Promise<JsonText | undefined> {
    const author = this.authors.of(user, caller);
    return this.unitOfWork.run(async () => {
      await this.addenda.holdTarget(target);
      const [newer, older] = await this.entries.latestSnapshots(target);
      if (newer === undefined || older === undefined) return undefined;
      const [oldSnapshot = '{}', newSnapshot = '{}'] = (
        await this.addenda.textsOf([older.addendumId, newer.addendumId])
      ).map((text) => memberText(text, 'snapshot'));
      const content = JSON.stringify({
        'old-revision': { id: older.addendumId, resourceType: 'SDCAddendum' },
        'new-revision': { id: newer.addendumId, resourceType: 'SDCAddendum' },
        diff: diffSnapshots(oldSnapshot, newSnapshot),
      });
      return this.addenda.add({ type: AMENDMENT, target, author, content });
    });
  }
}
