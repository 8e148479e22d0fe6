import { Injectable } from '@nestjs/common';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { type Resource } from '../../fhir/types';
import { type ResourceDraft } from '../../model/resource-draft';
import { DefinesResourceType } from '../../model/resource-type';
import { ForResourceType, type ResourceRule } from '../../resource/hooks/resource-rule';
import { settingsKeyOf } from '../client/client';
import { Grants } from '../grants/grant.registry';
import { keepSecret, takeSecret } from './secret-mask';
import { assertShapes, refused } from './shape';
import { CLIENT_SHAPE } from './client.shape';
import { isScopeToken } from '../oauth/token-request';
import { ClientSecrets, secretHashOf } from '../client/client-secrets.repository';

/** Grant types that a Client may list although the server does not support them yet. */
const UNSERVED_GRANT_TYPES = [
  'authorization_code',
  'code',
  'implicit',
  'urn:ietf:params:oauth:grant-type:token-exchange',
];

/** A longer secret is no safer, and would not fit into a header. */
const MAX_SECRET_BYTES = 1024;

/** Settings that every grant may have, with their types. */
const GRANT_SETTINGS = {
  token_format: 'string',
  token_expiration: 'positive-integer',
  access_token_expiration: 'positive-integer',
  refresh_token: 'boolean',
  refresh_token_expiration: 'positive-integer',
  secret_required: 'boolean',
  audience: 'string-array',
} as const;

/** Checks a Client (interface specification, "Client") and keeps its secret out of the body. */
@Injectable()
@DefinesResourceType({
  type: 'Client',
  isNative: true,
  shape: CLIENT_SHAPE,
  searchParameters: [
    { code: 'active', kind: 'token', expression: 'Client.active' },
    { code: 'grant-type', kind: 'token', expression: 'Client.grant_types' },
  ],
})
@ForResourceType('Client')
export class ClientRule implements ResourceRule<string | undefined> {
  constructor(
    private readonly secrets: ClientSecrets,
    private readonly grants: Grants,
  ) {}

  check(draft: ResourceDraft): string | undefined {
    const client = draft.value;
    assertShapes('Client', client, {
      secret: 'string',
      grant_types: 'string-array',
      scope: 'string-array',
      active: 'boolean',
      auth: 'object',
    });
    this.checkGrantTypes(client);
    checkScope(client);
    for (const [grant, settings] of Object.entries((client.auth as Resource | undefined) ?? {})) {
      this.checkServed(grant, settings);
      checkGrantSettings(grant, settings);
    }
    checkSecret(client);
    return takeSecret(draft, 'secret');
  }

  async store(draft: ResourceDraft, secret: string | undefined, previous: Resource | undefined): Promise<void> {
    const clientId = draft.id ?? '';
    if (secret !== undefined) {
      if ((await this.secrets.find(clientId))?.equals(secretHashOf(secret)) === true) return;
      await this.secrets.set(clientId, secret);
      draft.markHiddenChange();
    } else {
      keepSecret(draft, 'secret', previous);
    }
  }

  /** Checks the settings of a grant that another team added: CLIENT_SHAPE has no elements for them. */
  private checkServed(grant: string, settings: unknown): void {
    const inShape = Object.keys(CLIENT_SHAPE['Client.auth'] ?? {});
    if (inShape.includes(grant)) return;
    refuseUnknown('Client.auth', { [grant]: settings }, [...inShape, ...this.grants.withSettings.map(settingsKeyOf)]);
    if (typeof settings === 'object' && settings !== null)
      refuseUnknown(`Client.auth.${grant}`, settings, Object.keys(GRANT_SETTINGS));
  }

  private checkGrantTypes({ grant_types: grantTypes }: Resource): void {
    const served = ['basic', ...this.grants.all().map(({ meta }) => meta)];
    const unknown = (grantTypes as string[] | undefined)?.find(
      (grantType) => !served.includes(grantType) && !UNSERVED_GRANT_TYPES.includes(grantType),
    );
    if (unknown === undefined) return;
    const hint = didYouMean(nearestCode(unknown, served));
    throw refused(
      'Client.grant_types',
      `holds "${unknown.slice(0, 64)}", which is no grant type`,
      `${hint} Served are ${served.join(', ')}.`,
    );
  }
}

function checkScope({ scope }: Resource): void {
  if ((scope as string[] | undefined)?.every(isScopeToken) === false)
    throw refused('Client.scope', 'holds scope tokens (RFC 6749, section 3.3), one each: no spaces');
}

function checkSecret({ secret }: Resource): void {
  if (secret === '') throw refused('Client.secret', 'must not be empty');
  if (typeof secret === 'string' && Buffer.byteLength(secret) > MAX_SECRET_BYTES)
    throw refused('Client.secret', `has at most ${MAX_SECRET_BYTES} bytes`);
}

function checkGrantSettings(grant: string, settings: unknown): void {
  const path = `Client.auth.${grant}`;
  assertShapes('Client.auth', { [grant]: settings }, { [grant]: 'object' });
  assertShapes(path, settings, GRANT_SETTINGS);
  const { token_format: format, audience } = settings as Resource;
  if (format !== undefined && format !== 'jwt')
    throw refused(`${path}.token_format`, 'can only be jwt; leave it out for opaque tokens');
  if ((audience as string[] | undefined)?.includes('') === true)
    throw refused(`${path}.audience`, 'must not hold an empty text');
}

/** @throws ServiceError 'unprocessable' for a member that is not among `known` */
function refuseUnknown(path: string, object: object, known: readonly string[]): void {
  for (const member of Object.keys(object)) {
    if (known.includes(member)) continue;
    const hint = didYouMean(nearestCode(member, known), ` Known are ${known.join(', ')}.`);
    const shown = member.slice(0, 64);
    throw refused(`${path}.${shown}`, `is not an element of ${path}`, hint);
  }
}
