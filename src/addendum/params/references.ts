import { IsIn, IsNotEmpty, IsString, Equals } from 'class-validator';
import { type NativeReference } from '../../fhir/types';
import { IfSent, IsShapedLike } from './param-checks';

export const TARGET_TYPES = ['SDCDocument', 'SDCWorkflow'] as const;

/** Identifies the document or workflow that addenda belong to. */
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

/** Identifies the user who adds an addendum; the User's existence is not checked. */
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

/** Params of a method that reads by target. */
export class TargetParams {
  @IsShapedLike(TargetReference)
  target!: TargetReference;
}
