import { describe, expect, it } from '@jest/globals';
import { type UnitOfWork } from '../../platform/database/unit-of-work';
import { clientOf } from '../client';
import { type CredentialGuard } from '../guessing/credential-guard';
import { type PasswordStrategy } from '../password.strategy';
import { type TokenIssuer } from '../token-issuer';
import { type TokenOwners } from '../token-owners';
import { PasswordGrant } from './password.grant';

/** The grant for a User whose password is verified, and stored as `hashAtIssue` when the transaction is open. */
function grantWith(hashAtIssue: string | undefined): PasswordGrant {
  const passwords: Pick<PasswordStrategy, 'authenticate' | 'hashOf'> = {
    authenticate: () => Promise.resolve({ userId: 'nurse', passwordHash: 'hash of the verified password' }),
    hashOf: () => Promise.resolve(hashAtIssue),
  };
  const owners: Pick<TokenOwners, 'hold'> = {
    hold: (_client, id) => Promise.resolve({ resourceType: 'User', id }),
  };
  const issuer: Pick<TokenIssuer, 'issue'> = {
    issue: ({ user }) =>
      Promise.resolve({ token_type: 'Bearer', expires_in: 60, access_token: 'token', userinfo: user }),
  };
  const unitOfWork: Pick<UnitOfWork, 'run'> = { run: (work) => work() };
  const guesses: Pick<CredentialGuard, 'judge'> = { judge: (_kind, _name, judge) => judge() };
  return new PasswordGrant(
    passwords as PasswordStrategy,
    owners as TokenOwners,
    issuer as TokenIssuer,
    unitOfWork as UnitOfWork,
    guesses as CredentialGuard,
  );
}

const client = clientOf('{"resourceType":"Client","id":"ward","grant_types":["password"]}');
const request = {
  grantType: 'password',
  client: { id: 'ward', secrets: [] },
  parameter: (name: string): string => name,
};

describe(PasswordGrant, () => {
  it('issues a token for the password that is still stored', async () => {
    const { access_token: token } = await grantWith('hash of the verified password').exchange(client, request);
    expect(token).toBe('token');
  });

  it.each([
    ['changed', 'hash of another password'],
    ['deleted', undefined],
  ])(
    'issues none for a password that is %s after it was verified: its Sessions have been closed',
    async (_case, hash) => {
      await expect(grantWith(hash).exchange(client, request)).rejects.toMatchObject({
        code: 'invalid_grant',
        description: 'Wrong username or password',
      });
    },
  );
});
