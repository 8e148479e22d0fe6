import { describe, expect, it } from '@jest/globals';
import { clientOf } from './client';

const read = (body: object): object => clientOf(JSON.stringify({ resourceType: 'Client', id: 'ward', ...body }));

describe(clientOf, () => {
  it('gives a Client that says nothing no grant, and opaque tokens of an hour', () => {
    expect(read({})).toEqual({
      id: 'ward',
      isActive: true,
      grantTypes: [],
      password: { isJwt: false, tokenLifetimeSeconds: 3600, issuesRefreshToken: false, requiresSecret: false },
    });
  });

  it('reads every setting', () => {
    const password = {
      token_format: 'jwt',
      token_expiration: 60,
      access_token_expiration: 900,
      refresh_token: true,
      refresh_token_expiration: 86_400,
      secret_required: true,
    };
    expect(read({ active: false, grant_types: ['password'], auth: { password } })).toEqual({
      id: 'ward',
      isActive: false,
      grantTypes: ['password'],
      password: {
        isJwt: true,
        tokenLifetimeSeconds: 60,
        issuesRefreshToken: true,
        refreshTokenLifetimeSeconds: 86_400,
        requiresSecret: true,
      },
    });
  });
});
