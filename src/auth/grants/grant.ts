import { DiscoveryService } from '@nestjs/core';
import { type Client } from '../client';
import { type TokenRequest } from '../token-request';
import { type TokenResponse } from '../token-issuer';

/** One grant type of the token endpoint: a class of its own. */
export interface Grant {
  /** @throws OAuthError */
  exchange(client: Client, request: TokenRequest): Promise<TokenResponse>;
}

/** Registers a {@link Grant} under its `grant_type`. */
export const GrantOf = DiscoveryService.createDecorator<string>();
