import { Controller, Get, HttpCode, HttpStatus, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { type Resource } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/request/request-context';
import { TokenIsEnough } from '../../platform/http/route-access';
import { ResourceReader } from '../../store/resource-reader';
import { sendUnstored } from '../oauth/oauth-answer';
import { Userinfo } from '../token/userinfo';

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
    private readonly reader: ResourceReader,
    private readonly userinfo: Userinfo,
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
    const id = userIdOf(this.requests);
    const { text } = await this.reader.read('User', id);
    sendUnstored(response, (await this.userinfo.of({ id, text, value: JSON.parse(text) as Resource })).text);
  }
}

/** @throws ServiceError 'unauthorized' without a token, 'forbidden' for a token of a client itself. */
export function userIdOf({ caller }: RequestContext): string {
  if (caller?.userId !== undefined) return caller.userId;
  if (caller?.sessionId === undefined)
    throw new ServiceError('unauthorized', 'HTTP Basic has no User; send the token of one.');
  throw new ServiceError('forbidden', 'The token was issued to a client for itself: it has no User.');
}
