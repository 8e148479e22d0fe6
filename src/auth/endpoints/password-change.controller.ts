import { Controller, HttpCode, HttpStatus, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { bodyOf, mediaTypeOf } from '../../platform/http/raw-request';
import { RequestContext } from '../../platform/request/request-context';
import { TokenIsEnough } from '../../platform/http/route-access';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { readJson } from '../../platform/json/read-json';
import { memberOf } from '../../platform/json/plain-object';
import { PasswordChange } from '../user/password-change';
import { userIdOf } from './userinfo.controller';

const BODY = {
  type: 'object',
  required: ['currentPassword', 'newPassword'],
  properties: { currentPassword: { type: 'string' }, newPassword: { type: 'string' } },
  example: { currentPassword: 'a long password', newPassword: 'a password that is longer' },
};

@ApiTags('Tokens')
@Controller('auth/change-password')
export class PasswordChangeController {
  constructor(
    private readonly requests: RequestContext,
    private readonly passwords: PasswordChange,
  ) {}

  @TokenIsEnough()
  @Post()
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiOperation({
    summary: 'Changes the password of the User of the token',
    description: 'All Sessions of the User end, that of the token included. No policy is asked.',
    security: [{ oauth2: [] }, { bearer: [] }],
  })
  @ApiBody({ required: true, schema: BODY })
  @ApiResponse({ status: HttpStatus.NO_CONTENT, description: 'Changed: log in again' })
  @ApiResponse({ status: HttpStatus.UNPROCESSABLE_ENTITY, description: 'A wrong current or an unfit new password' })
  change(@Req() request: Request): Promise<void> {
    const userId = userIdOf(this.requests);
    if (mediaTypeOf(request) !== 'application/json')
      throw new ServiceError('unsupported-media-type', 'Send both passwords as application/json.');
    const { value } = readJson(decodeUtf8(bodyOf(request)));
    return this.passwords.change(userId, textIn(value, 'currentPassword'), textIn(value, 'newPassword'));
  }
}

function textIn(body: unknown, name: string): string {
  const text = memberOf(body, name);
  if (typeof text === 'string') return text;
  throw new ServiceError('unprocessable', `${name} must be a string.`, { expression: name });
}
