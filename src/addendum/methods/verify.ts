import { type NativeReference } from '../../fhir/types';
import { type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { Addenda } from '../store/addenda';
import { BREAKS, type ChainBreak } from '../chain/chain-check';
import { Chains } from '../chain/chains';
import { EXAMPLE_TARGET } from '../params/example-addendum';
import { TargetParams } from '../params/references';

/** The result of a check: whether the addenda of a target are as they were recorded, and the first fault if not. */
export interface Verification {
  readonly target: NativeReference;
  readonly intact: boolean;
  /** How many addenda the chain proves: all of them, or those before the fault. */
  readonly length: number;
  /**
   * Hash of the last proven link, in hexadecimal. If a copy of the hash is kept outside the server, it proves later
   * that no addendum was removed from the end.
   */
  readonly head: string;
  readonly broken: VerifiedBreak | undefined;
}

interface VerifiedBreak {
  readonly sequence: number | undefined;
  readonly addendum: NativeReference | undefined;
  readonly reason: string;
  readonly message: string;
}

/** Checks the chain of a target (docs/explanation/evidence.md). */
@RpcMethod({
  method: 'svc.sdc.addendum/verify',
  params: TargetParams,
  enforcesRows: true,
  description: 'Returns whether the addenda of a document or workflow are as recorded, and the first fault if not.',
  example: { target: EXAMPLE_TARGET },
  resultSchema: { $ref: '#/components/schemas/SDCVerification' },
  exampleResult: {
    target: EXAMPLE_TARGET,
    intact: true,
    length: 4,
    head: '9b74c9897bac770ffc029102a200c5de5fa7b3b1f9f2b9f1a3a1b7d8c0e4f5a6',
  },
})
export class Verify implements RpcHandler<TargetParams, Verification> {
  constructor(
    private readonly addenda: Addenda,
    private readonly chains: Chains,
  ) {}

  async execute({ target: { resourceType, id } }: TargetParams): Promise<Verification> {
    const target = { id, resourceType };
    await this.addenda.assertSeen(target, ['target']);
    const { length, head, broken } = await this.chains.check(target);
    if (length === 0 && broken === undefined) await this.addenda.assertStored(target, ['target']);
    return {
      target,
      intact: broken === undefined,
      length,
      head: head.toString('hex'),
      broken: broken === undefined ? undefined : verifiedBreak(broken),
    };
  }
}

const verifiedBreak = ({ reason, sequence, addendumId }: ChainBreak): VerifiedBreak => ({
  sequence,
  addendum: addendumId === undefined ? undefined : { id: addendumId, resourceType: 'SDCAddendum' },
  reason,
  message: BREAKS[reason],
});
