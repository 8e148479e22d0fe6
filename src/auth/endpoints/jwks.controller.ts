import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { PublicRoute } from '../../platform/http/route-access';
import { SigningKeys } from '../keys/signing-keys.repository';

@ApiTags('Tokens')
@Controller('.well-known/jwks.json')
export class JwksController {
  constructor(private readonly keys: SigningKeys) {}

  @PublicRoute()
  @Get()
  @ApiOperation({ security: [], summary: 'Public keys of the JWTs', description: 'JWK Set (RFC 7517)' })
  jwks(): Promise<{ keys: object[] }> {
    return this.keys.jwks();
  }
}
