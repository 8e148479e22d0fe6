import { ApiProperty } from '@nestjs/swagger';
import { Equals, IsNotEmpty, IsString, ValidateIf } from 'class-validator';
import { type JsonText } from '../../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from '../../rpc/rpc-method';
import { type ParamError } from '../../rpc/rpc-refusal';
import { COMMENT, NOTE } from '../types/addendum-kinds';
import { IfSent, IsCreatedType, IsDateTime, IsMemberPath, IsShapedLike } from '../params/param-checks';
import { TargetReference, UserReference } from '../params/references';
import { AddendumTypes } from '../types/addendum-types';
import { Addenda } from '../store/addenda';

/** The members of the sent addendum that are validated. All other members may have any value. */
class AddendumInput {
  @IfSent()
  @Equals('SDCAddendum')
  resourceType?: string;

  @IfSent()
  @Equals(undefined, { message: 'id is assigned by the service' })
  id?: undefined;

  @IsCreatedType()
  @IsNotEmpty()
  @IsString()
  type!: string;

  @IsShapedLike(TargetReference)
  target!: TargetReference;

  @IsShapedLike(UserReference)
  user!: UserReference;

  @IfSent()
  @IsDateTime()
  appointment?: string;

  @ValidateIf(({ type }: AddendumInput) => type === NOTE || type === COMMENT)
  @IsNotEmpty()
  @IsString()
  text?: string;

  @ValidateIf(({ type, path }: AddendumInput) => type === COMMENT && path !== undefined)
  @IsMemberPath()
  path?: string[];
}

export class CreateAddendumParams {
  @ApiProperty({ additionalProperties: true })
  @IsShapedLike(AddendumInput)
  addendum!: AddendumInput;
}

/** Stores an addendum of the caller's own type, a Note or a Comment ("Addendum RPC", rule 1). */
@RpcMethod({
  method: 'svc.sdc.addendum/create-addendum',
  params: CreateAddendumParams,
  target: { param: 'addendum.target' },
  enforcesRows: true,
  writes: () => true,
  description: 'Stores an addendum of a kind of your own, with open content; id and date are assigned.',
  example: {
    addendum: {
      type: 'acme.sdc.addendum/Handover',
      target: { id: 'vitals-1', resourceType: 'SDCDocument' },
      user: { id: 'doc-1', resourceType: 'User' },
      ward: '4B',
    },
  },
  resultSchema: { $ref: '#/components/schemas/SDCAddendum' },
})
export class CreateAddendum implements RpcHandler<CreateAddendumParams, JsonText> {
  constructor(
    private readonly addenda: Addenda,
    private readonly types: AddendumTypes,
  ) {}

  faultsOf({ addendum }: { readonly addendum?: unknown }): readonly ParamError[] {
    return this.types.faultsOf(addendum).map(({ path, message }) => ({ path: ['addendum', ...path], message }));
  }

  execute({ addendum: { type, target, user } }: CreateAddendumParams, call: RpcCall): Promise<JsonText> {
    const content = call.text('addendum') ?? '{}';
    return this.addenda.addSent({ type, target, user, content }, call, ['addendum', 'target']);
  }

  repeat({ addendum: { target } }: CreateAddendumParams, kept: JsonText): Promise<JsonText> {
    return this.addenda.repeated(target, kept);
  }
}
