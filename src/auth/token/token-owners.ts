import { Injectable } from '@nestjs/common';
import { Roles } from '../../access/roles/roles';
import { type Resource } from '../../fhir/types';
import { KeptByRights, RegistryEpoch } from '../../platform/database/registry-epoch';
import { membersOf, textOfMembers, withLeadingMembers } from '../../platform/json/json-members';
import { JsonText } from '../../platform/json/json-text';
import { isObject } from '../../platform/json/plain-object';
import { ResourceReader } from '../../store/resource-reader';
import { mayAct } from '../../resource/may-act';
import { Sessions } from '../../session/sessions';
import { type Client } from '../client/client';
import { ClientAuthenticator } from '../client/client-authenticator';
import { invalidGrant, wrongCredentials } from '../oauth/oauth-error';

/** The largest User that is cached. A larger User is read for each token. */
const MAX_KEPT_CHARACTERS = 16_384;

export interface TokenUser {
  readonly id: string;
  /** The stored User with masked secrets, parsed. Its numbers are JavaScript doubles. */
  readonly value: Resource;
  /**
   * A JSON object: the User without secrets, `sub` (OpenID Connect's name for the id of the User), and the Roles of the
   * User. Numbers keep their stored digits.
   */
  readonly userinfo: JsonText;
}

/**
 * Finds and locks the User and the Client that a token is issued to. Both are cached until the rights epoch (a counter
 * of changes of rights) rises. The statement that opens the Session compares this epoch while both are locked. If the
 * User or the Client changed meanwhile, the unit of work restarts and reads both again under the locks.
 * @example
 * const user = await unitOfWork.run(() => owners.hold(client, 'nurse'));
 */
@Injectable()
export class TokenOwners {
  private readonly users: KeptByRights<TokenUser | undefined>;

  /** @internal */
  constructor(
    epoch: RegistryEpoch,
    private readonly reader: ResourceReader,
    private readonly roles: Roles,
    private readonly sessions: Sessions,
    private readonly clients: ClientAuthenticator,
  ) {
    this.users = new KeptByRights(epoch, (id) => this.read(id), isSmall);
  }

  /** @internal */
  findUser(id: string): Promise<TokenUser | undefined> {
    return this.users.get(id);
  }

  /** Reads a User into the cache. Called before the unit of work, because reads inside a transaction are not cached. */
  async prepare(userId: string): Promise<void> {
    await this.users.get(userId);
  }

  /**
   * Locks the User and the Client in the open unit of work. A concurrent deactivation waits until the new Session is
   * stored, and then closes it.
   * @throws OAuthError when the User or the Client is deleted or inactive.
   */
  async hold(client: Client, userId: string): Promise<TokenUser> {
    await this.sessions.holdOwners({ clientId: client.id, userId });
    await this.clients.assertActive(client.id);
    const user = await this.users.get(userId);
    if (user === undefined) throw wrongCredentials('the user is deleted');
    if (!mayAct('User', user.value)) throw invalidGrant('user-inactive', 'User is inactive');
    return user;
  }

  /** Like `hold`, for a token of the Client itself. Such a token has no User. */
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
  if (isObject(twoFactor)) leading.push(['twoFactor', JSON.stringify({ ...twoFactor, secretKey: undefined })]);
  const shown = textOfMembers(membersOf(text).filter(({ key }) => key !== 'password'));
  return new JsonText(withLeadingMembers(shown, leading));
}

const isSmall = ({ userinfo }: TokenUser): boolean => userinfo.text.length <= MAX_KEPT_CHARACTERS;
