import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { Environment } from '../../platform/config/environment';
import { newOpaqueToken } from '../../session/token-hash';
import { type GrantSettings } from '../client/client';
import { SigningKeys } from '../keys/signing-keys.repository';

/** The claims of a token that is a JWT. */
export interface TokenContent {
  readonly sessionId: string;
  readonly clientId: string;
  /** Absent for a token of the client itself, whose subject is the client (RFC 9068, section 2.2). */
  readonly userId: string | undefined;
  readonly issuedAt: Date;
  readonly scope: string | undefined;
  readonly audience: readonly string[];
}

export interface AccessToken {
  readonly text: string;
  /** The `jti` claim of a JWT; of an opaque token a UUID that names it without revealing it. */
  readonly jti: string;
  readonly issuer: string;
  /** The key that signed it. */
  readonly kid?: string;
}

/** The text of access tokens: opaque random bits, or a JWT (RFC 9068) where the Client asks for it. */
@Injectable()
export class AccessTokens {
  constructor(
    private readonly keys: SigningKeys,
    private readonly jwt: JwtService,
    private readonly environment: Environment,
  ) {}

  async make({ isJwt, tokenLifetimeSeconds }: GrantSettings, content: TokenContent): Promise<AccessToken> {
    const issuer = this.environment.baseUrl;
    if (!isJwt) return { text: newOpaqueToken(), jti: randomUUID(), issuer };
    const { sessionId, clientId, userId, issuedAt, scope, audience } = content;
    const { kid, algorithm, privateKey } = await this.keys.signing();
    const text = await this.jwt.signAsync(
      {
        client_id: clientId,
        iat: Math.floor(issuedAt.getTime() / 1000),
        ...(scope === undefined ? {} : { scope }),
      },
      {
        privateKey,
        algorithm,
        header: { alg: algorithm, kid, typ: 'at+jwt' },
        issuer,
        audience: audience.length <= 1 ? (audience[0] ?? issuer) : [...audience],
        subject: userId ?? clientId,
        jwtid: sessionId,
        expiresIn: tokenLifetimeSeconds,
      },
    );
    return { text, jti: sessionId, issuer, kid };
  }
}
