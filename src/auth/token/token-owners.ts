import { Injectable } from '@nestjs/common';
import { Roles } from '../../access/roles/roles';
import { type Resource } from '../../fhir/types';
import { KeptByRights } from '../../platform/database/kept-by-rights';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { withLeadingMembers, withoutMembers } from '../../platform/json/json-members';
import { JsonText } from '../../platform/json/json-text';
import { ResourceReader } from '../../store/resource-reader';
import { mayAct } from '../../resource/may-act';
import { Sessions } from '../../session/sessions';
import { type Client } from '../client/client';
import { ClientAuthenticator } from '../client/client-authenticator';
import { OAuthError, WRONG_CREDENTIALS } from '../oauth/oauth-error';

/** Longer ones are read for each token. */
const MAX_KEPT_CHARACTERS = 16_384;

/** The User that a token is issued to. */
export interface TokenUser {
  readonly id: string;
  /** The stored resource, whose secrets are masked; numbers are doubles. */
  readonly value: Resource;
  /**
   * One JSON object: the resource without secrets, `sub` as OpenID Connect names its id, and the Roles that are linked to it.
   * Numbers have the digits that they were stored with.
   */
  readonly userinfo: JsonText;
}

/**
 * The User and the Client that a token is issued to. Both are known as of the epoch of rights of the request, and the statement that
 * opens the Session compares it behind the locks. Where one of them was changed meanwhile, the unit of work starts over, and reads
 * both again behind the locks.
 */
@Injectable()
export class TokenOwners {
  /** In memory by the epoch of rights. */
  private readonly users: KeptByRights<TokenUser | undefined>;

  /** @internal */
  constructor(
    epoch: RegistryEpoch,
    unitOfWork: UnitOfWork,
    private readonly reader: ResourceReader,
    private readonly roles: Roles,
    private readonly sessions: Sessions,
    private readonly clients: ClientAuthenticator,
  ) {
    this.users = new KeptByRights(epoch, unitOfWork, (id) => this.read(id), isSmall);
  }

  /** @internal */
  findUser(id: string): Promise<TokenUser | undefined> {
    return this.users.get(id);
  }

  /** Reads a User ahead of the unit of work: what a transaction reads is not kept. */
  async prepare(userId: string): Promise<void> {
    await this.users.get(userId);
  }

  /**
   * Locks both in the open unit of work: a concurrent deactivation waits for the new Session, and closes it.
   * @throws OAuthError when one of them is deleted or inactive.
   */
  async hold(client: Client, userId: string): Promise<TokenUser> {
    await this.sessions.holdOwners({ clientId: client.id, userId });
    await this.clients.assertActive(client.id);
    const user = await this.users.get(userId);
    if (user === undefined) throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'the user is deleted');
    if (!mayAct('User', user.value)) throw new OAuthError('invalid_grant', 'User is inactive');
    return user;
  }

  /** The same for a token of the Client itself. */
  async holdClient({ id: clientId }: Client): Promise<void> {
    await this.sessions.holdOwners({ clientId });
    await this.clients.assertActive(clientId);
  }

  private async read(id: string): Promise<TokenUser | undefined> {
    const stored = await this.reader.find('User', id);
    if (stored === undefined) return undefined;
    const value = JSON.parse(stored.text) as Resource;
    return { id, value, userinfo: userinfoOf(stored.text, value, await this.roles.textsOf(id)) };
  }
}

function userinfoOf(text: string, { id, twoFactor }: Resource, roles: readonly string[]): JsonText {
  const leading: [string, string][] = [
    ['resourceType', '"User"'],
    ['id', JSON.stringify(id)],
    ['sub', JSON.stringify(id)],
  ];
  if (roles.length > 0) leading.push(['role', `[${roles.join(',')}]`]);
  if (typeof twoFactor === 'object' && twoFactor !== null)
    leading.push(['twoFactor', JSON.stringify({ ...twoFactor, secretKey: undefined })]);
  return new JsonText(withLeadingMembers(withoutMembers(text, ['password']), leading));
}

const isSmall = (user: TokenUser | undefined): boolean =>
  user !== undefined && user.userinfo.text.length <= MAX_KEPT_CHARACTERS;
