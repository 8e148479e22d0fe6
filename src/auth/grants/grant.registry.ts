import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../../platform/discovery/handler-registry';
import { type Client, settingsOf } from '../client/client';
import { OAuthError } from '../oauth/oauth-error';
import { type Grant, GrantOf } from './grant';

@Injectable()
export class Grants extends HandlerRegistry<string, Grant> {
  constructor(discovery: DiscoveryService) {
    super(discovery, GrantOf, (grantType) => grantType, ['exchange']);
  }

  /**
   * Grant types that can begin a login: all except `refresh_token`. Their settings apply to the refresh tokens of that
   * login too.
   */
  get withSettings(): readonly string[] {
    return this.all()
      .map(({ meta }) => meta)
      .filter((grantType) => grantType !== 'refresh_token');
  }

  /**
   * Checks that the Client lists the grant. It need not list `refresh_token`: refresh tokens depend on the grant by
   * which the login began.
   * @throws OAuthError unauthorized_client
   */
  assertListed({ grantTypes }: Client, grantType: string): void {
    if (grantType !== 'refresh_token' && !grantTypes.includes(grantType))
      throw new OAuthError('unauthorized_client', `The client may not use the grant ${grantType}`);
  }

  /** Whether the Client must send its secret for tokens of this grant, and for their refresh tokens. */
  requiresSecret(client: Client, grantType: string): boolean {
    const required = this.find(grantType)?.handler.requiresSecret?.(client);
    return required ?? [grantType, 'password'].some((key) => settingsOf(client, key).requiresSecret);
  }

  /** Whether each grant of the Client requires the Client's secret (RFC 6749, section 2.1: a confidential client). */
  isConfidential(client: Client): boolean {
    return client.grantTypes
      .filter((grantType) => this.withSettings.includes(grantType))
      .every((grantType) => this.requiresSecret(client, grantType));
  }
}
