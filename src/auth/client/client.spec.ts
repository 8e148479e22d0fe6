import { describe, expect, it } from '@jest/globals';
import { clientOf, settingsOf } from './client';

const read = (body: object): object => clientOf(JSON.stringify({ resourceType: 'Client', id: 'ward', ...body }));

describe(clientOf, () => {
  it('gives a Client without settings no grants, and opaque tokens that expire after an hour', () => {
    expect(read({})).toEqual({
      id: 'ward',
      isActive: true,
      grantTypes: [],
      scopes: [],
      grants: {},
    });
    expect(settingsOf(clientOf('{"resourceType":"Client","id":"ward"}'), 'password')).toEqual({
      isJwt: false,
      tokenLifetimeSeconds: 3600,
      issuesRefreshToken: false,
      requiresSecret: false,
      audience: [],
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
      audience: ['https://a.example'],
    };
    expect(read({ active: false, grant_types: ['password'], scope: ['ward'], auth: { password } })).toEqual({
      id: 'ward',
      isActive: false,
      grantTypes: ['password'],
      scopes: ['ward'],
      grants: {
        password: {
          isJwt: true,
          tokenLifetimeSeconds: 60,
          issuesRefreshToken: true,
          refreshTokenLifetimeSeconds: 86_400,
          requiresSecret: true,
          audience: ['https://a.example'],
        },
      },
    });
  });
});
