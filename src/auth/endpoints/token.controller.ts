import { Controller, HttpCode, HttpStatus, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { callHandler } from '../../platform/discovery/handler-calls';
import { PublicRoute } from '../../platform/http/route-access';
import { jsonTextOf } from '../../platform/json/json-text';
import { objectText } from '../../platform/json/json-members';
import { ClientAuthenticator } from '../client/client-authenticator';
import { type Grant } from '../grants/grant';
import { Grants } from '../grants/grant.registry';
import { sendUnstored } from '../oauth/oauth-answer';
import { OAuthError } from '../oauth/oauth-error';
import { OAuthErrorFilter } from './oauth-error.filter';
import { OAUTH_ERROR, TOKEN_REQUEST, TOKEN_RESPONSE } from './token.openapi';
import { readTokenRequest, type TokenRequest } from '../oauth/token-request';
import { type TokenResponse } from '../token/token-issuer';
import { TokenSlots } from './token-slots';

/**
 * Token endpoint (RFC 6749, section 3.2). A request takes its slot before its first statement, so queued requests hold
 * no database connection.
 */
@ApiTags('Tokens')
@PublicRoute()
@UseFilters(OAuthErrorFilter)
@Controller('auth/token')
export class TokenController {
  constructor(
    private readonly grants: Grants,
    private readonly slots: TokenSlots,
    private readonly clients: ClientAuthenticator,
  ) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Exchanges a password, a refresh token or a client secret for an access token',
    description: 'Client credentials in a Basic header or in the body; the body as a form or as JSON.',
    // No security scheme here: otherwise Swagger UI sends the credentials of its login dialog in addition to those of
    // the body.
    security: [],
  })
  @ApiBody(TOKEN_REQUEST)
  @ApiResponse({ status: HttpStatus.OK, ...TOKEN_RESPONSE })
  @ApiResponse({ status: HttpStatus.BAD_REQUEST, description: 'Refused (RFC 6749, section 5.2)', ...OAUTH_ERROR })
  @ApiResponse({ status: HttpStatus.UNAUTHORIZED, description: 'invalid_client', ...OAUTH_ERROR })
  @ApiResponse({ status: HttpStatus.SERVICE_UNAVAILABLE, description: 'Too many logins at once', ...OAUTH_ERROR })
  async token(@Req() request: Request, @Res() response: Response): Promise<void> {
    const asked = readTokenRequest(request);
    const grant = this.grantOf(asked);
    const exchange = async (): Promise<TokenResponse> => {
      const client = await this.clients.authenticate(asked.client, (found) =>
        this.grants.requiresSecret(found, asked.grantType),
      );
      this.grants.assertListed(client, asked.grantType);
      return callHandler(grant, () => grant.exchange(client, asked), isIssued);
    };
    const issued = await this.slots.run(grant, asked, exchange);
    sendUnstored(response, responseText(issued));
  }

  private grantOf({ grantType }: TokenRequest): Grant {
    const grant = this.grants.find(grantType)?.handler;
    if (grant !== undefined) return grant;
    const known = this.grants.all().map(({ meta }) => meta);
    throw new OAuthError('unsupported_grant_type', `grant_type is one of ${known.join(', ')}`);
  }
}

const isIssued = (response: Partial<TokenResponse> | undefined): boolean => typeof response?.access_token === 'string';

/** Serializes the response. Numbers in the User (`userinfo`) keep their stored digits. */
const responseText = (response: TokenResponse): string =>
  objectText(Object.entries(response).map(([name, value]) => [name, jsonTextOf(value)]));
