import { ApiProperty } from '@nestjs/swagger';
import { Equals, IsBoolean, IsNotEmpty, IsString, Matches } from 'class-validator';
import { IfSent, IsResourceId, IsShapedLike } from '../params/param-checks';
import { UserReference } from '../params/references';

class SentMeta {
  @IfSent()
  @Matches(/^[1-9]\d{0,8}$/, { message: '$property must be a version such as "3"' })
  versionId?: string;
}

/** The members of a document that are checked; the whole body is read as text. */
export class SentDocument {
  @IsResourceId()
  id!: string;

  @IfSent()
  @Equals('SDCDocument')
  resourceType?: string;

  @IfSent()
  @IsShapedLike(SentMeta)
  meta?: SentMeta;
}

export class SaveDocumentParams {
  @ApiProperty({ additionalProperties: true })
  @IsShapedLike(SentDocument)
  document!: SentDocument;
}

export class SignDocumentParams extends SaveDocumentParams {
  /** The signer; by default the caller. */
  @IfSent()
  @IsShapedLike(UserReference)
  user?: UserReference;

  @IfSent()
  @IsBoolean()
  'dry-run'?: boolean;
}

export class AmendDocumentParams {
  @IsNotEmpty()
  @IsString()
  id!: string;

  /** The author of the amendment; by default the caller. */
  @IfSent()
  @IsShapedLike(UserReference)
  user?: UserReference;

  @IfSent()
  @IsBoolean()
  'dry-run'?: boolean;
}
