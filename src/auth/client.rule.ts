import { Injectable } from '@nestjs/common';
import { type Resource } from '../fhir/types';
import { ServiceError } from '../platform/errors/service-error';
import { type ResourceDraft } from '../resource/resource-draft';
import { ForResourceType, type ResourceRule } from '../resource/resource-rule';
import { ClientSecrets } from './client-secrets.repository';
import { Grants } from './grants/grant.registry';
import { keepSecret, takeSecret } from './secret-mask';
import { assertShapes } from './shape';

/** Grant types that a Client may name before the server has them; those of registered grants come on top. */
const KNOWN_GRANT_TYPES = [
  'basic',
  'client_credentials',
  'authorization_code',
  'code',
  'implicit',
  'urn:ietf:params:oauth:grant-type:token-exchange',
];

/** Checks a Client (interface, "Client") and keeps its secret out of the body. */
@Injectable()
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
      active: 'boolean',
      auth: 'object',
    });
    const known = [...KNOWN_GRANT_TYPES, ...this.grants.all().map(({ meta }) => meta)];
    if ((client.grant_types as string[] | undefined)?.some((grantType) => !known.includes(grantType)) === true) {
      throw new ServiceError('unprocessable', `Client.grant_types knows ${[...new Set(known)].join(', ')}.`, {
        expression: 'Client.grant_types',
      });
    }
    checkPasswordGrant(client.auth);
    if (client.secret === '')
      throw new ServiceError('unprocessable', 'Client.secret must not be empty.', { expression: 'Client.secret' });
    return takeSecret(draft, 'secret');
  }

  async store(draft: ResourceDraft, secret: string | undefined, previous: Resource | undefined): Promise<void> {
    const clientId = draft.id ?? '';
    if (secret !== undefined) {
      if (await this.secrets.isRight(clientId, [secret])) return;
      await this.secrets.set(clientId, secret);
      draft.markHiddenChange();
    } else {
      keepSecret(draft, 'secret', previous);
    }
  }
}

function checkPasswordGrant(auth: unknown): void {
  if (auth === undefined) return;
  assertShapes('Client.auth', auth, { password: 'object' });
  const settings = (auth as { password?: Resource }).password;
  if (settings === undefined) return;
  assertShapes('Client.auth.password', settings, {
    token_format: 'string',
    token_expiration: 'positive-integer',
    access_token_expiration: 'positive-integer',
    refresh_token: 'boolean',
    refresh_token_expiration: 'positive-integer',
    secret_required: 'boolean',
  });
  if (settings.token_format !== undefined && settings.token_format !== 'jwt') {
    throw new ServiceError(
      'unprocessable',
      'Client.auth.password.token_format can only be jwt; leave it out for opaque tokens.',
      {
        expression: 'Client.auth.password.token_format',
      },
    );
  }
}
