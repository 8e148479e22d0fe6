import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type Client } from '../client/client';
import { TokenIssuer, type TokenResponse } from '../token/token-issuer';
import { TokenOwners } from '../token/token-owners';
import { type TokenRequest } from '../oauth/token-request';
import { type Grant, GrantOf } from './grant';

/** A token for the client itself. RFC 6749, section 4.4: it "MUST only be used by confidential clients". */
@Injectable()
@GrantOf('client_credentials')
export class ClientCredentialsGrant implements Grant {
  constructor(
    private readonly owners: TokenOwners,
    private readonly issuer: TokenIssuer,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  requiresSecret(): boolean {
    return true;
  }

  exchange(client: Client, request: TokenRequest): Promise<TokenResponse> {
    const requested = this.issuer.orderOf(client, request);
    return this.unitOfWork.run(async () => {
      await this.owners.holdClient(client);
      return this.issuer.issue(requested);
    });
  }
}
