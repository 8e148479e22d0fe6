import { IsNotEmpty, IsString } from 'class-validator';
import { type JsonParts } from '../../platform/json/json-parts';
import { type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { Addenda } from '../store/addenda';
import { TargetParams } from '../params/references';

/** Rule 5 of "Addendum RPC" in the interface specification. */
@RpcMethod({
  method: 'svc.sdc.addendum/get-addendums',
  params: TargetParams,
  enforcesRows: true,
  description: 'Lists all addenda of a document or workflow, the first one first.',
  example: { target: { id: 'vitals-1', resourceType: 'SDCDocument' } },
  resultSchema: { type: 'array', items: { $ref: '#/components/schemas/SDCAddendum' } },
})
export class GetAddendums implements RpcHandler<TargetParams, JsonParts> {
  constructor(private readonly addenda: Addenda) {}

  execute({ target }: TargetParams): Promise<JsonParts> {
    return this.addenda.listOf(target);
  }
}

export class GetWorkflowAddendumsParams {
  @IsNotEmpty()
  @IsString()
  id!: string;
}

@RpcMethod({
  method: 'svc.sdc/get-workflow-addendums',
  params: GetWorkflowAddendumsParams,
  target: { param: 'id', type: 'SDCWorkflow' },
  enforcesRows: true,
  description: 'Lists all addenda of a workflow, the first one first.',
  example: { id: 'rounds-1' },
  resultSchema: { type: 'array', items: { $ref: '#/components/schemas/SDCAddendum' } },
})
export class GetWorkflowAddendums implements RpcHandler<GetWorkflowAddendumsParams, JsonParts> {
  constructor(private readonly addenda: Addenda) {}

  execute({ id }: GetWorkflowAddendumsParams): Promise<JsonParts> {
    return this.addenda.listOf({ id, resourceType: 'SDCWorkflow' }, ['id']);
  }
}
