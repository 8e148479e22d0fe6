import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { type Caller } from '../../platform/request/caller';
import { mayAct } from '../../resource/may-act';
import { ResourceReader } from '../../store/resource-reader';
import { type Role, Roles } from '../roles/roles';
import { type LazyRequest, type PartSources } from './lazy-request';

/**
 * Members that contain a secret, or a value that can replace a secret (`passwordResetJti`), by resource type. Policies
 * and explanations never see them.
 */
const SECRETS: Readonly<Record<string, readonly string[]>> = {
  User: ['password', 'twoFactor', 'passwordResetJti'],
  Client: ['secret'],
  Session: ['access_token', 'refresh_token', 'authorization_code'],
};

/**
 * Reads the caller's Client, User and Session for each request. So every replica applies a change of a User to the next
 * request.
 */
@Injectable()
export class CallerParts {
  constructor(
    private readonly reader: ResourceReader,
    private readonly roles: Roles,
  ) {}

  of(caller: Caller, authorization: string | undefined): PartSources {
    const { userId, clientId, sessionId } = caller;
    return {
      client: () => this.stored('Client', clientId),
      ...(userId === undefined ? {} : { user: () => this.stored('User', userId) }),
      ...(sessionId === undefined
        ? {}
        : { session: () => this.sessionOf(caller, sessionId), jwt: () => claimsOf(authorization) }),
    };
  }

  /**
   * Returns the Session with the Roles of its User. A policy with `roleName` sees only the Roles of that name ({@link
   * asHolderOf}).
   */
  private async sessionOf(caller: Caller, sessionId: string): Promise<Resource | undefined> {
    const session = await this.stored('Session', sessionId);
    return session === undefined ? undefined : { ...session, role: await this.roles.of(caller) };
  }

  private async stored(type: string, id: string): Promise<Resource | undefined> {
    const found = await this.reader.find(type, id);
    if (found === undefined) return undefined;
    const members = Object.entries(JSON.parse(found.text) as Resource);
    return Object.fromEntries(members.filter(([name]) => SECRETS[type]?.includes(name) !== true)) as Resource;
  }
}

/**
 * Whether the User or Client of a request object still exists and is active. A caller was just authenticated, but the
 * owner of a destination may have been deleted since the destination was stored.
 */
export async function couldCall(request: LazyRequest): Promise<boolean> {
  const [type, part] =
    request.caller.userId === undefined ? (['Client', 'client'] as const) : (['User', 'user'] as const);
  return mayAct(type, (await request.part(part)) as Resource | undefined);
}

/**
 * Reads the claims of the JWT in an Authorization header. Its signature need not be verified: the guard has found the
 * token in the database, so this server issued it.
 */
export function claimsOf(authorization = ''): unknown {
  const [, claims] = /^bearer +[\w-]+\.([\w-]+)\.[\w-]+ *$/i.exec(authorization) ?? [];
  if (claims === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
  } catch {
    return undefined; // an opaque token that happens to contain two dots
  }
}

/**
 * The request object that a policy with `roleName` reads: it contains only the Roles of that name. The data of one Role
 * must not affect a grant for another Role.
 */
export const asHolderOf = (name: string, request: LazyRequest): LazyRequest =>
  request.seenAs(request, {
    session: async () => {
      const session = (await request.part('session')) as { readonly role?: readonly Role[] } | undefined;
      return session === undefined
        ? undefined
        : { ...session, role: session.role?.filter((role) => role.name === name) };
    },
  });
