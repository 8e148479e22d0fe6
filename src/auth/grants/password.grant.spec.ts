import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../../platform/config/environment';
import { inOneFlight } from '../../platform/database/in-one-flight';
import { type UnitOfWork } from '../../platform/database/unit-of-work';
import { JsonText } from '../../platform/json/json-text';
import { clientOf } from '../client/client';
import { RequestContext } from '../../platform/request/request-context';
import { type CredentialGuard } from '../guessing/credential-guard';
import { type PasswordStrategy } from '../user/password.strategy';
import { type TokenIssuer } from '../token/token-issuer';
import { type TokenOwners } from '../token/token-owners';
import { type TwoFactor } from '../user/two-factor';
import { type UserLogins } from '../user/user-logins.repository';
import { PasswordGrant } from './password.grant';

/**
 * A grant for a User whose password was verified. `isCurrent` says whether that password is still stored when the
 * transaction checks it again.
 */
function grantWith({ isCurrent }: { isCurrent: boolean }): PasswordGrant {
  const passwords: Pick<PasswordStrategy, 'authenticate' | 'isCurrent' | 'renewHash'> = {
    authenticate: () => Promise.resolve({ userId: 'nurse', passwordId: '1', passwordHash: 'hash' }),
    isCurrent: () => Promise.resolve(isCurrent),
    renewHash: () => Promise.resolve(),
  };
  const owners: Pick<TokenOwners, 'prepare' | 'hold'> = {
    prepare: () => Promise.resolve(),
    hold: (_client, id) => Promise.resolve({ id, value: { resourceType: 'User', id }, userinfo: new JsonText('{}') }),
  };
  const issuer: Pick<TokenIssuer, 'issue'> = {
    issue: () => Promise.resolve({ token_type: 'Bearer', expires_in: 60, access_token: 'token' }),
  };
  const twoFactor: Pick<TwoFactor, 'assertPassed'> = { assertPassed: () => Promise.resolve() };
  const unitOfWork: Pick<UnitOfWork, 'run' | 'afterCommit'> = {
    run: (work) => work(inOneFlight),
    afterCommit: () => undefined,
  };
  const guesses: Pick<CredentialGuard, 'judge'> = { judge: (_account, _credentials, judge) => judge() };
  const logins: Pick<UserLogins, 'find'> = { find: () => Promise.resolve(undefined) };
  return new PasswordGrant(
    logins as UserLogins,
    passwords as PasswordStrategy,
    twoFactor as TwoFactor,
    owners as TokenOwners,
    issuer as TokenIssuer,
    unitOfWork as UnitOfWork,
    readEnvironment({}),
    guesses as CredentialGuard,
    new RequestContext(),
  );
}

const client = clientOf('{"resourceType":"Client","id":"ward","grant_types":["password"]}');
const request = {
  grantType: 'password',
  client: { id: 'ward', secrets: [] },
  parameter: (name: string): string | undefined => (name === 'scope' || name === 'audience' ? undefined : name),
};

describe(PasswordGrant, () => {
  it('issues a token for the password that is still stored', async () => {
    const { access_token: token } = await grantWith({ isCurrent: true }).exchange(client, request);
    expect(token).toBe('token');
  });

  it('issues none when the password changed after it was verified: that change closed its Sessions', async () => {
    await expect(grantWith({ isCurrent: false }).exchange(client, request)).rejects.toMatchObject({
      code: 'invalid_grant',
      description: 'Wrong username or password',
    });
  });
});
