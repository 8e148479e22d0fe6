import { IsIn, IsNotEmpty, IsString, Equals } from 'class-validator';
import { type NativeReference } from '../../fhir/types';
import { IfSent, IsResourceId, IsShapedLike } from './param-checks';

export const TARGET_TYPES = ['SDCDocument', 'SDCWorkflow'] as const;

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

/** Identifies the User who adds an addendum. It need not exist, but its id must be possible: addenda never change. */
export class UserReference implements NativeReference {
  @IsResourceId()
  id!: string;

  @Equals('User')
  resourceType!: string;

  @IfSent()
  @IsString()
  display?: string;
}

export class TargetParams {
  @IsShapedLike(TargetReference)
  target!: TargetReference;
}
