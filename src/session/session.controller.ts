import { Controller, Delete, HttpStatus, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { sendAnswer } from '../fhir/edge/fhir-answer';
import { FormatGuard } from '../fhir/edge/format.guard';
import { ServiceError } from '../platform/errors/service-error';
import { queryOf } from '../platform/http/raw-request';
import { RequestContext } from '../platform/request/request-context';
import { TokenIsEnough } from '../platform/http/route-access';
import { Sessions } from './sessions';

@ApiTags('Sessions')
@UseGuards(FormatGuard)
@Controller(['Session', 'fhir/Session'])
export class SessionController {
  constructor(
    private readonly sessions: Sessions,
    private readonly requests: RequestContext,
  ) {}

  @TokenIsEnough()
  @Delete()
  @ApiOperation({
    summary: 'Closes the Session of the token',
    description: 'The access token and its refresh token are refused from then on.',
    security: [{ oauth2: [] }, { bearer: [] }],
  })
  @ApiResponse({ status: HttpStatus.OK, description: 'The closed Session.' })
  async close(@Req() request: Request, @Res() response: Response): Promise<void> {
    const sessionId = this.requests.caller?.sessionId;
    if (sessionId === undefined)
      throw new ServiceError('token-required', 'HTTP Basic has no Session to close; send a Bearer token.');
    // With a query, the request would mean a conditional delete, which needs a policy and may close many Sessions.
    if (queryOf(request).size > 0)
      throw new ServiceError(
        'parameter-unknown',
        'DELETE /Session takes no criteria: it closes the Session of the token.',
      );
    const closed = await this.sessions.closeWithSuccessors(sessionId);
    if (closed === undefined) throw new ServiceError('resource-deleted', 'The Session of the token is deleted.');
    await sendAnswer(response, { status: HttpStatus.OK, text: closed.text });
  }
}
