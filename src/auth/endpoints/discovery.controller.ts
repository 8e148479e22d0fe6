import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Environment } from '../../platform/config/environment';
import { PublicRoute } from '../../platform/http/route-access';
import { Grants } from '../grants/grant.registry';
import { SigningKeys } from '../keys/signing-keys.repository';

/** Endpoints for clients. There is no authorization endpoint, so there are no response types and no ID tokens. */
@ApiTags('Tokens')
@PublicRoute()
@Controller()
export class DiscoveryController {
  constructor(
    private readonly environment: Environment,
    private readonly grants: Grants,
    private readonly keys: SigningKeys,
  ) {}

  @Get('.well-known/oauth-authorization-server')
  @ApiOperation({ security: [], summary: 'Authorization server metadata (RFC 8414)' })
  @ApiResponse({ status: 200, description: 'Endpoints and what they take' })
  authorizationServer(): object {
    return { ...this.common(), response_types_supported: [] };
  }

  @Get('.well-known/openid-configuration')
  @ApiOperation({ security: [], summary: 'The same for clients that look for OpenID Connect Discovery' })
  @ApiResponse({ status: 200, description: 'Endpoints and what they take' })
  openidConfiguration(): object {
    return {
      ...this.common(),
      response_types_supported: [],
      subject_types_supported: ['public'],
      // OpenID Connect Discovery requires this member. Access tokens (JWTs) are signed with RS256; ID tokens do not
      // exist.
      id_token_signing_alg_values_supported: ['RS256'],
      claims_supported: ['iss', 'sub', 'aud', 'iat', 'exp', 'jti', 'client_id', 'scope'],
    };
  }

  @Get(['.well-known/smart-configuration', 'fhir/.well-known/smart-configuration'])
  @ApiOperation({ security: [], summary: 'SMART App Launch configuration; there is no launch' })
  @ApiResponse({ status: 200, description: 'Endpoints and capabilities' })
  smartConfiguration(): object {
    return { ...this.common(), capabilities: ['client-public', 'client-confidential-symmetric'] };
  }

  @Get('.well-known/jwks.json')
  @ApiOperation({ security: [], summary: 'Public keys of the JWTs', description: 'JWK Set (RFC 7517)' })
  jwks(): Promise<{ keys: object[] }> {
    return this.keys.jwks();
  }

  private common(): object {
    const methods = ['client_secret_basic', 'client_secret_post'];
    return {
      issuer: this.environment.baseUrl,
      token_endpoint: this.url('/auth/token'),
      token_endpoint_auth_methods_supported: [...methods, 'none'],
      grant_types_supported: this.grants.all().map(({ meta }) => meta),
      introspection_endpoint: this.url('/auth/introspect'),
      introspection_endpoint_auth_methods_supported: methods,
      revocation_endpoint: this.url('/auth/revoke'),
      revocation_endpoint_auth_methods_supported: [...methods, 'none'],
      userinfo_endpoint: this.url('/auth/userinfo'),
      jwks_uri: this.url('/.well-known/jwks.json'),
      ...(this.environment.hasApiDocs ? { service_documentation: this.url('/api') } : {}),
    };
  }

  private url(path: string): string {
    return `${this.environment.baseUrl}${path}`;
  }
}
