import { Injectable } from '@nestjs/common';
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

/** Adds a Note to a signed document or workflow (interface specification, "Addendum RPC", rule 2). */
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

export class NoteByIdParams {
  @IsNotEmpty()
  @IsString()
  id!: string;

  @IsShapedLike(UserReference)
  user!: UserReference;

  @IsNotEmpty()
  @IsString()
  text!: string;
}

/** The call identifies the target by its id alone. */
@Injectable()
abstract class AddNoteById implements RpcHandler<NoteByIdParams, JsonText> {
  protected abstract readonly resourceType: string;

  constructor(private readonly addenda: Addenda) {}

  execute({ id, user, text }: NoteByIdParams, call: RpcCall): Promise<JsonText> {
    const target = { id, resourceType: this.resourceType };
    return this.addenda.addSent({ type: NOTE, target, user, content: JSON.stringify({ text }) }, call, ['id']);
  }

  repeat({ id }: NoteByIdParams, kept: JsonText): Promise<JsonText> {
    return this.addenda.repeated({ id, resourceType: this.resourceType }, kept);
  }
}

@RpcMethod({
  method: 'svc.sdc/add-note',
  params: NoteByIdParams,
  target: { param: 'id', type: 'SDCDocument' },
  enforcesRows: true,
  writes: () => true,
  description: 'Adds a Note to a document that is completed or amended.',
  example: { id: 'vitals-1', user: { id: 'doc-1', resourceType: 'User' }, text: 'The patient was seated.' },
  resultSchema: { $ref: '#/components/schemas/SDCNote' },
})
export class AddDocumentNote extends AddNoteById {
  protected readonly resourceType = 'SDCDocument';
}

@RpcMethod({
  method: 'svc.sdc/add-workflow-note',
  params: NoteByIdParams,
  target: { param: 'id', type: 'SDCWorkflow' },
  enforcesRows: true,
  writes: () => true,
  description: 'Adds a Note to a workflow that is completed or amended.',
  example: { id: 'rounds-1', user: { id: 'doc-1', resourceType: 'User' }, text: 'All rooms were seen.' },
  resultSchema: { $ref: '#/components/schemas/SDCNote' },
})
export class AddWorkflowNote extends AddNoteById {
  protected readonly resourceType = 'SDCWorkflow';
}
