import { IsNotEmpty, IsString } from 'class-validator';
import { IsShapedLike } from '../params/param-checks';
import { UserReference } from '../params/references';

/** A Note on what the method names by its id alone. */
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
