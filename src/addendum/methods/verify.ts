import { type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { Addenda } from '../store/addenda';
import { Chains, type Verification } from '../chain/chains';
import { TargetParams } from '../params/references';

@RpcMethod({
  method: 'svc.sdc.addendum/verify',
  params: TargetParams,
  enforcesRows: true,
  description: 'Returns whether the addenda of a document or workflow are as recorded, and the first fault if not.',
  example: { target: { id: 'vitals-1', resourceType: 'SDCDocument' } },
  resultSchema: { $ref: '#/components/schemas/SDCVerification' },
})
export class Verify implements RpcHandler<TargetParams, Verification> {
  constructor(
    private readonly addenda: Addenda,
    private readonly chains: Chains,
  ) {}

  async execute({ target }: TargetParams): Promise<Verification> {
    await this.addenda.assertSeen(target, ['target']);
    const found = await this.chains.check(target);
    if (found.length === 0 && found.intact) await this.addenda.assertStored(target, ['target']);
    return found;
  }
}
