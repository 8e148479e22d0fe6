import { Controller, HttpCode, HttpStatus, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { PublicRoute } from '../../platform/http/route-access';
import { SessionTokens } from '../../session/session-tokens.repository';
import { Sessions } from '../../session/sessions';
import { ClientAuthenticator } from '../client/client-authenticator';
import { Grants } from '../grants/grant.registry';
import { forbidStoring } from '../oauth/oauth-answer';
import { invalidGrant, OAuthError } from '../oauth/oauth-error';
import { OAuthErrorFilter } from './oauth-error.filter';
import { OAUTH_ERROR, REVOKE_REQUEST } from './token.openapi';
import { clientCredentialsOf, readParameters } from '../oauth/token-request';

/**
 * Token revocation (RFC 7009). Revoking an access or refresh token ends its Session and all Sessions that came from the
 * same refresh token.
 */
@ApiTags('Tokens')
@PublicRoute()
@UseFilters(OAuthErrorFilter)
@Controller('auth/revoke')
export class RevokeController {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly sessions: Sessions,
    private readonly tokens: SessionTokens,
    private readonly grants: Grants,
  ) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Ends a token, and the Session that it belongs to (RFC 7009)',
    description: 'For the client that the token was issued to, which authenticates as at the token endpoint.',
    security: [],
  })
  @ApiBody(REVOKE_REQUEST)
  @ApiResponse({ status: HttpStatus.OK, description: 'The token is not active, whatever it was' })
  @ApiResponse({
    status: HttpStatus.BAD_REQUEST,
    description: 'token is missing, or was issued to another client',
    ...OAUTH_ERROR,
  })
  @ApiResponse({ status: HttpStatus.UNAUTHORIZED, description: 'invalid_client', ...OAUTH_ERROR })
  async revoke(@Req() request: Request, @Res() response: Response): Promise<void> {
    const parameters = readParameters(request);
    const client = await this.clients.authenticate(clientCredentialsOf(request, parameters), (found) =>
      this.grants.isConfidential(found),
    );
    const token = parameters.parameter('token');
    if (token === undefined) throw new OAuthError('invalid_request', 'token is missing');
    await this.end(token, client.id);
    forbidStoring(response).end();
  }

  private async end(token: string, clientId: string): Promise<void> {
    const issued = await this.tokens.find(token);
    if (issued === undefined) return;
    // RFC 7009, section 2.1: "If this validation fails, the request is refused and the client is informed of the
    // error".
    if (issued.clientId !== clientId)
      throw invalidGrant(
        'token-of-another-client',
        'The token was issued to another client',
        `issued to ${issued.clientId}`,
      );
    if (issued.kind === 'refresh') await this.sessions.closeFamily(issued.familyId);
    else if (issued.isLive) await this.sessions.closeWithSuccessors(issued.sessionId);
  }
}
