import { All, Controller, HttpCode, HttpStatus, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiBody, ApiExcludeEndpoint, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { ServiceError } from '../platform/errors/service-error';
import { PublicRoute } from '../platform/http/route-access';
import { ClientAuthenticator } from './client-authenticator';
import { Grants } from './grants/grant.registry';
import { OAuthError } from './oauth-error';
import { OAuthErrorFilter } from './oauth-error.filter';
import { readTokenRequest } from './token-request';

const TOKEN_REQUEST = {
  type: 'object',
  required: ['grant_type'],
  properties: {
    grant_type: { type: 'string', enum: ['password', 'refresh_token'] },
    client_id: { type: 'string', description: 'Unless it is in a Basic header' },
    client_secret: { type: 'string' },
    username: { type: 'string' },
    password: { type: 'string' },
    refresh_token: { type: 'string' },
  },
  example: {
    grant_type: 'password',
    client_id: 'try-app',
    client_secret: 'try-app-secret',
    username: 'doc-1',
    password: 'a long password',
  },
};

/** The token endpoint (RFC 6749, section 3.2). */
@ApiTags('Tokens')
@PublicRoute()
@UseFilters(OAuthErrorFilter)
@Controller('auth/token')
export class TokenController {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly grants: Grants,
  ) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Exchanges a password or a refresh token for an access token',
    description: 'Client credentials in a Basic header or in the body; the body as a form or as JSON.',
    // Swagger UI would send the credentials of whoever is logged in, beside those of the body.
    security: [],
  })
  @ApiBody({ schema: TOKEN_REQUEST })
  @ApiResponse({
    status: HttpStatus.OK,
    description: 'token_type, expires_in, access_token, refresh_token (when enabled), userinfo',
  })
  @ApiResponse({ status: HttpStatus.BAD_REQUEST, description: '{error, error_description} of RFC 6749, section 5.2' })
  @ApiResponse({ status: HttpStatus.UNAUTHORIZED, description: 'invalid_client' })
  async token(@Req() request: Request, @Res() response: Response): Promise<void> {
    const tokenRequest = readTokenRequest(request);
    const grant = this.grants.find(tokenRequest.grantType)?.handler;
    if (grant === undefined) {
      const known = this.grants.all().map(({ meta }) => meta);
      throw new OAuthError('unsupported_grant_type', `grant_type is one of ${known.join(', ')}`);
    }
    const client = await this.clients.authenticate(tokenRequest.client);
    const tokens = await grant.exchange(client, tokenRequest);
    // RFC 6749, section 5.1
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Pragma', 'no-cache');
    response.json(tokens);
  }

  @All()
  @ApiExcludeEndpoint()
  notAllowed(): never {
    throw new ServiceError('not-allowed', 'Send a token request with POST.', { allow: ['POST'] });
  }
}
