import { Controller, HttpCode, HttpStatus, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { AccessDecision } from '../../access/decision/access-decision';
import { AccessRequests } from '../../access/request/access-requests';
import { type Caller } from '../../platform/request/caller';
import { authorizationOf } from '../../platform/http/raw-request';
import { RequestContext } from '../../platform/request/request-context';
import { OperationId, PublicRoute } from '../../platform/http/route-access';
import { CallerResolver } from '../caller/caller-resolver';
import { ClientAuthenticator } from '../client/client-authenticator';
import { Introspection } from './introspection';
import { sendUnstored } from '../oauth/oauth-answer';
import { OAuthError } from '../oauth/oauth-error';
import { OAuthErrorFilter } from './oauth-error.filter';
import { INTROSPECT_REQUEST, OAUTH_ERROR } from './token.openapi';
import { clientCredentialsOf, readParameters, type RequestParameters } from '../oauth/token-request';

/** Token introspection (RFC 7662). The caller authenticates by the secret of a client, or by a bearer token. */
@ApiTags('Tokens')
@PublicRoute()
@UseFilters(OAuthErrorFilter)
@Controller('auth/introspect')
export class IntrospectController {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly callers: CallerResolver,
    private readonly requests: RequestContext,
    private readonly access: AccessDecision,
    private readonly asked: AccessRequests,
    private readonly introspection: Introspection,
  ) {}

  @Post()
  @OperationId('AuthIntrospect')
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Returns whether a token is active, and its description (RFC 7662)',
    description:
      'A client with its secret sees its own tokens; the bearer of a User’s token sees those of that User with the same client. Other tokens need a policy for AuthIntrospect. Else: `{"active": false}`.',
    security: [{ basic: [] }, { bearer: [] }, { oauth2: [] }],
  })
  @ApiBody(INTROSPECT_REQUEST)
  @ApiResponse({
    status: HttpStatus.OK,
    description: 'The description of an active token, or `{"active": false}`',
    example: {
      active: true,
      iss: 'http://localhost:3000',
      token_type: 'Bearer',
      client_id: 'try-app',
      sub: 'doc-1',
      username: 'doc-1',
      exp: 1_795_003_600,
      iat: 1_795_000_000,
    },
  })
  @ApiResponse({ status: HttpStatus.BAD_REQUEST, description: 'token is missing', ...OAUTH_ERROR })
  @ApiResponse({ status: HttpStatus.UNAUTHORIZED, description: 'No client or token, or a wrong one', ...OAUTH_ERROR })
  async introspect(@Req() request: Request, @Res() response: Response): Promise<void> {
    const parameters = readParameters(request);
    const caller = await this.callerOf(request, response, parameters);
    const token = parameters.parameter('token');
    if (token === undefined) throw new OAuthError('invalid_request', 'token is missing');
    const description = await this.introspection.describe(token, caller, () => this.isGranted(request, caller));
    sendUnstored(response, JSON.stringify(description));
  }

  private async isGranted(request: Request, caller: Caller): Promise<boolean> {
    return (await this.access.decide(this.asked.ofHttp(request, caller, 'AuthIntrospect'))).rows === 'all';
  }

  private async callerOf(request: Request, response: Response, parameters: RequestParameters): Promise<Caller> {
    const authorization = authorizationOf(request);
    if (authorization !== undefined && /^bearer /i.test(authorization)) {
      const { caller, epochs } = await this.callers.resolve(authorization);
      this.requests.identify(caller, epochs);
      return caller;
    }
    if (authorization === undefined && parameters.parameter('client_id') === undefined) {
      response.setHeader('WWW-Authenticate', 'Basic realm="svc"');
      // RFC 7662, section 2.3 requires 401 for missing credentials. The token endpoint reports a missing parameter
      // instead.
      throw new OAuthError('invalid_client', 'Send the credentials of a client, or a bearer token');
    }
    const client = await this.clients.authenticate(clientCredentialsOf(request, parameters), () => true);
    return { clientId: client.id };
  }
}
