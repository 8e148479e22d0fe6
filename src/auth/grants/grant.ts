import { DiscoveryService } from '@nestjs/core';
import { type Client } from '../client/client';
import { type TokenResponse } from '../token/token-issuer';
import { type TokenRequest } from '../oauth/token-request';

/** A grant type of the token endpoint. */
export interface Grant {
  /** Whether each exchange computes a password hash. Such exchanges wait for a slot of the hash threads. */
  readonly costsHash?: boolean;
  /**
   * Returns whether the Client must send its secret, also for the refresh tokens of this grant. Without this method,
   * `secret_required` in the Client's settings for this grant or for `password` decides.
   */
  requiresSecret?(client: Client): boolean;
  /**
   * Returns the tokens for a request of an authenticated Client that lists the grant.
   * @throws OAuthError
   */
  exchange(client: Client, request: TokenRequest): Promise<TokenResponse>;
}

/**
 * Registers a {@link Grant} under its `grant_type`.
 * @example
 * &#64;Injectable()
 * &#64;GrantOf('urn:acme:badge')
 * export class BadgeGrant implements Grant {
 *   constructor(
 *     private readonly owners: TokenOwners,
 *     private readonly issuer: TokenIssuer,
 *     private readonly unitOfWork: UnitOfWork,
 *     private readonly guesses: CredentialGuard,
 *   ) {}
 *
 *   exchange(client: Client, request: TokenRequest): Promise<TokenResponse> {
 *     const pin = request.parameter('pin') ?? '';
 *     return this.guesses.judge({ kind: 'user', name: 'nurse' }, [pin], () => this.issue(client, pin));
 *   }
 *
 *   private issue(client: Client, pin: string): Promise<TokenResponse> {
 *     if (pin !== '1234') throw OAuthError.wrongGuess('The PIN is wrong');
 *     return this.unitOfWork.run(async () => {
 *       const user = await this.owners.hold(client, 'nurse');
 *       return this.issuer.issue({ client, user, grantType: 'urn:acme:badge' });
 *     });
 *   }
 * }
 */
export const GrantOf = DiscoveryService.createDecorator<string>();
