import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { type Caller } from '../../platform/request/caller';
import { mayAct } from '../../resource/may-act';
import { ResourceReader } from '../../store/resource-reader';
import { type Role, Roles } from '../roles/roles';
import { type LazyRequest, type PartSources } from './lazy-request';

/** Members with a secret or a substitute for one; policies and explanations never see them. */
const SECRETS: Readonly<Record<string, readonly string[]>> = {
  User: ['password', 'twoFactor', 'passwordResetJti'],
  Client: ['secret'],
  Session: ['access_token', 'refresh_token', 'authorization_code'],
};

/** The caller's resources, read for each request: a changed User counts for the next request on every replica. */
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

  /** Includes the Roles of its User; a policy for one role sees only Roles of that name ({@link asHolderOf}). */
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
 * Whether the principal still exists and is active. The caller of a request was just authenticated; the owner of a
 * destination may have been deleted since.
 */
export async function couldCall(request: LazyRequest): Promise<boolean> {
  const [type, part] =
    request.caller.userId === undefined ? (['Client', 'client'] as const) : (['User', 'user'] as const);
  return mayAct(type, (await request.part(part)) as Resource | undefined);
}

/**
 * The claims of a JWT in an Authorization header, without verification. For real requests they are genuine: the token
 * was looked up before, so this server issued it.
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

/** The request as a policy with `roleName` sees it: the data of one Role must not affect the grant of another. */
export const asHolderOf = (name: string, request: LazyRequest): LazyRequest =>
  request.seenAs(request, (seen) => ({
    session: async () => {
      const session = (await seen.part('session')) as { readonly role?: readonly Role[] } | undefined;
      return session === undefined
        ? undefined
        : { ...session, role: session.role?.filter((role) => role.name === name) };
    },
  }));
