import { IsIn, IsNotEmpty, IsString, Equals } from 'class-validator';
import { type NativeReference } from '../../fhir/types';
import { IfSent, IsShapedLike } from './param-checks';

export const TARGET_TYPES = ['SDCDocument', 'SDCWorkflow'] as const;

/** Names the document or workflow that addenda belong to. */
export class TargetReference implements NativeReference {
  @IsNotEmpty()
  @IsString()
  id!: string;

  @IsIn(TARGET_TYPES)
  resourceType!: string;

  @IfSent()
  @IsString()
  display?: string;
}

/** Names the user who adds an addendum; whether there is such a user is not checked. */
export class UserReference implements NativeReference {
  @IsNotEmpty()
  @IsString()
  id!: string;

  @Equals('User')
  resourceType!: string;

  @IfSent()
  @IsString()
  display?: string;
}

/** The params of a method that reads what belongs to a target. */
export class TargetParams {
  @IsShapedLike(TargetReference)
  target!: TargetReference;
}
