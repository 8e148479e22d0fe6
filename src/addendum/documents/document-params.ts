import { ApiProperty } from '@nestjs/swagger';
import { Equals, IsBoolean, IsNotEmpty, IsString, Matches } from 'class-validator';
import { IfSent, IsResourceId, IsShapedLike } from '../params/param-checks';
import { UserReference } from '../params/references';

class SentMeta {
  @IfSent()
  @Matches(/^[1-9]\d{0,8}$/, { message: '$property must be a version such as "3"' })
  versionId?: string;
}

/** The members of a sent document that are validated here. The whole body is read as text elsewhere. */
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
  /** The User who signs; by default the caller. */
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

  /** The User who amends the document; by default the caller. */
  @IfSent()
  @IsShapedLike(UserReference)
  user?: UserReference;

  @IfSent()
  @IsBoolean()
  'dry-run'?: boolean;
}
