import { Controller, Get, HttpCode, HttpStatus, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/request/request-context';
import { TokenIsEnough } from '../../platform/http/route-access';
import { sendUnstored } from '../oauth/oauth-answer';
import { TokenOwners } from '../token/token-owners';

const SUMMARY = {
  summary: 'The User of the token, without secrets, with sub and role',
  description: 'A live token of a User is enough, no policy is asked (OpenID Connect Core, section 5.3).',
  security: [{ oauth2: [] }, { bearer: [] }],
};
const ANSWER = {
  status: HttpStatus.OK,
  description: 'As in the token response',
  example: { resourceType: 'User', id: 'doc-1', sub: 'doc-1', email: 'doc-1@clinic.example' },
};

@ApiTags('Tokens')
@Controller('auth/userinfo')
export class UserinfoController {
  constructor(
    private readonly requests: RequestContext,
    private readonly owners: TokenOwners,
  ) {}

  @TokenIsEnough()
  @Get()
  @ApiOperation(SUMMARY)
  @ApiResponse(ANSWER)
  get(@Res() response: Response): Promise<void> {
    return this.answer(response);
  }

  @TokenIsEnough()
  @Post()
  @HttpCode(HttpStatus.OK)
  @ApiOperation(SUMMARY)
  @ApiResponse(ANSWER)
  post(@Res() response: Response): Promise<void> {
    return this.answer(response);
  }

  private async answer(response: Response): Promise<void> {
    const user = await this.owners.findUser(userIdOf(this.requests));
    if (user === undefined) throw new ServiceError('resource-deleted', 'The User of the token is deleted.');
    sendUnstored(response, user.userinfo.text);
  }
}

/**
 * @throws ServiceError 'unauthorized' without a token, 'forbidden' for a token that belongs to a client and not to a
 * User
 */
export function userIdOf({ caller }: RequestContext): string {
  if (caller?.userId !== undefined) return caller.userId;
  if (caller?.sessionId === undefined)
    throw new ServiceError('token-required', 'HTTP Basic has no User; send the token of one.');
  throw new ServiceError('token-without-user', 'The token was issued to a client for itself: it has no User.');
}
