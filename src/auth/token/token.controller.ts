import { All, Controller, HttpCode, HttpStatus, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiBody, ApiExcludeEndpoint, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { addressPrefixOf } from '../../platform/http/address-prefix';
import { PublicRoute } from '../../platform/http/route-access';
import { JsonText } from '../../platform/json/json-text';
import { objectText } from '../../platform/json/json-members';
import { settingsOf } from '../client/client';
import { ClientAuthenticator } from '../client/client-authenticator';
import { Grants } from '../grants/grant.registry';
import { LoginQueue } from '../overload/login-queue';
import { TokenGate } from '../overload/token-gate';
import { noteClient, sendUnstored } from './oauth-answer';
import { OAuthError } from './oauth-error';
import { OAuthErrorFilter } from './oauth-error.filter';
import { OAUTH_ERROR, TOKEN_REQUEST, TOKEN_RESPONSE } from './token.openapi';
import { readTokenRequest } from './token-request';
import { type TokenResponse } from './token-issuer';

/** The token endpoint (RFC 6749, section 3.2). */
@ApiTags('Tokens')
@PublicRoute()
@UseFilters(OAuthErrorFilter)
@Controller('auth/token')
export class TokenController {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly grants: Grants,
    private readonly logins: LoginQueue,
    private readonly gate: TokenGate,
  ) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Exchanges a password, a refresh token or a client secret for an access token',
    description: 'Client credentials in a Basic header or in the body; the body as a form or as JSON.',
    // Swagger UI would send the credentials of whoever is logged in, beside those of the body.
    security: [],
  })
  @ApiBody(TOKEN_REQUEST)
  @ApiResponse({ status: HttpStatus.OK, ...TOKEN_RESPONSE })
  @ApiResponse({ status: HttpStatus.BAD_REQUEST, description: 'Refused (RFC 6749, section 5.2)', ...OAUTH_ERROR })
  @ApiResponse({ status: HttpStatus.UNAUTHORIZED, description: 'invalid_client', ...OAUTH_ERROR })
  @ApiResponse({ status: HttpStatus.SERVICE_UNAVAILABLE, description: 'Too many logins at once', ...OAUTH_ERROR })
  async token(@Req() request: Request, @Res() response: Response): Promise<void> {
    const tokenRequest = readTokenRequest(request);
    const grant = this.grants.find(tokenRequest.grantType)?.handler;
    if (grant === undefined) {
      const known = this.grants.all().map(({ meta }) => meta);
      throw new OAuthError('unsupported_grant_type', `grant_type is one of ${known.join(', ')}`);
    }
    const exchange = async (): Promise<TokenResponse> => {
      const client = await this.clients.authenticate(
        tokenRequest.client,
        (found) => grant.requiresSecret?.(found) ?? settingsOf(found, 'password').requiresSecret,
      );
      noteClient(response, client.id);
      return grant.exchange(client, tokenRequest);
    };
    const arrival = {
      address: addressPrefixOf(request.ip ?? ''),
      isGone: () => response.destroyed,
      onWait: () => {
        this.gate.leave(response);
      },
    };
    const inTurn = (): Promise<TokenResponse> =>
      grant.costsHash === true ? this.logins.run(arrival, exchange) : exchange();
    sendUnstored(response, textOf(await this.gate.hold(response, inTurn)));
  }

  @All()
  @ApiExcludeEndpoint()
  notAllowed(): never {
    throw new ServiceError('not-allowed', 'Send a token request with POST.', { allow: ['POST'] });
  }
}

/** The User keeps the digits of its numbers. */
const textOf = (response: TokenResponse): string =>
  objectText(
    Object.entries(response).map(([name, value]) => [
      name,
      value instanceof JsonText ? value.text : JSON.stringify(value),
    ]),
  );
