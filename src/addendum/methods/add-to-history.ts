import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString } from 'class-validator';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { Addenda } from '../store/addenda';
import { IfSent, IsResourceId, IsShapedLike } from '../params/param-checks';
import { TARGET_TYPES, UserReference } from '../params/references';
import { Revisions } from '../store/revisions';

/** The members of the sent body that are validated here. The whole body is read as text elsewhere. */
class HistoryResource {
  @IsResourceId()
  id!: string;

  @IsIn(TARGET_TYPES)
  resourceType!: string;

  @IfSent()
  @IsString()
  status?: string;
}

export class AddToHistoryParams {
  @ApiProperty({ additionalProperties: true })
  @IsShapedLike(HistoryResource)
  resource!: HistoryResource;

  @IsShapedLike(UserReference)
  user!: UserReference;
}

const EXAMPLE = {
  id: 'vitals-1',
  resourceType: 'SDCDocument',
  status: 'completed',
  patient: { id: 'pt-1', resourceType: 'Patient' },
  'loinc-8480-6': { value: 120, unit: 'mm[Hg]' },
};

/** Records a status change as a History, with a signed new body as its snapshot ("Addendum RPC", rule 3). */
@RpcMethod({
  method: 'svc.sdc.addendum/add-to-history',
  params: AddToHistoryParams,
  target: { param: 'resource' },
  enforcesRows: true,
  writes: () => true,
  description:
    'Records a status change. A completed or amended body that differs from the last snapshot is kept as one.',
  example: { resource: EXAMPLE, user: { id: 'doc-1', resourceType: 'User' } },
  resultSchema: { $ref: '#/components/schemas/SDCHistory' },
})
export class AddToHistory implements RpcHandler<AddToHistoryParams, JsonText> {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly addenda: Addenda,
    private readonly revisions: Revisions,
  ) {}

  async execute({ resource, user }: AddToHistoryParams, call: RpcCall): Promise<JsonText> {
    const { id, resourceType, status } = resource;
    const target = { id, resourceType };
    const change = {
      target,
      author: this.addenda.authorOf(user, call.caller),
      status,
      body: call.text('resource') ?? '{}',
    };
    // The body is hashed before the target is locked, so that the lock is short.
    const digest = await this.revisions.digestOf(change);
    return this.unitOfWork.run(async () => {
      await this.addenda.holdBrought(target, change.body);
      return (await this.revisions.recordStatus(change, digest)).addendum;
    });
  }

  repeat({ resource }: AddToHistoryParams, kept: JsonText): Promise<JsonText> {
    return this.addenda.repeated(resource, kept);
  }
}
