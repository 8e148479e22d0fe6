import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { Environment } from '../platform/config/environment';
import { newOpaqueToken } from '../session/token-hash';
import { type Client } from './client';
import { SigningKeys } from './signing-keys.repository';

/** The text of access tokens: opaque random bits, or a JWT (RFC 9068) where the Client asks for it. */
@Injectable()
export class AccessTokens {
  constructor(
    private readonly keys: SigningKeys,
    private readonly jwt: JwtService,
    private readonly environment: Environment,
  ) {}

  async make(
    { id: clientId, password }: Client,
    { userId, sessionId, issuedAt }: { userId: string; sessionId: string; issuedAt: Date },
  ): Promise<string> {
    if (!password.isJwt) return newOpaqueToken();
    const { kid, algorithm, privateKey } = await this.keys.newest();
    return this.jwt.signAsync(
      { client_id: clientId, iat: Math.floor(issuedAt.getTime() / 1000) },
      {
        privateKey,
        algorithm,
        header: { alg: algorithm, kid, typ: 'at+jwt' },
        issuer: this.environment.baseUrl,
        audience: this.environment.baseUrl,
        subject: userId,
        jwtid: sessionId,
        expiresIn: password.tokenLifetimeSeconds,
      },
    );
  }
}
