import { type ReactElement } from 'react';
import { hashOf } from '../../app/routes';
import { Fact } from '../../parts/Fact';
import { Detail } from './Detail';
import { mayCoverClient } from './policy-reading';
import { PoliciesThatCover } from './PoliciesThatCover';
import { type Row } from '../../parts/search-pages';
import { textAt } from './resource-text';
import { stateOf } from './Directories';
import css from './access.module.css';

export function ClientDetail({ id }: { readonly id: string }): ReactElement {
  return (
    <Detail
      type="Client"
      id={id}
      path="clients"
      what="Client"
      actions={
        <>
          <a className="button" href={hashOf('access', [], { client: id })}>
            Describe a request of {id}
          </a>
          <a className="button" href={hashOf('access', ['sessions'], { client: id })}>
            Sessions
          </a>
        </>
      }
    >
      {(client) => (
        <>
          <dl className={css.facts}>
            <Fact name="Description">{textAt(client, 'description')}</Fact>
            <Fact name="Grants">{textAt(client, 'grant_types')}</Fact>
            <Fact name="Token">{tokenOf(client)}</Fact>
            <Fact name="State">{stateOf(client['active'] === false)}</Fact>
          </dl>
          <PoliciesThatCover
            covers={(policy) => mayCoverClient(policy, id)}
            note="These count when the client calls by itself. With a user’s token, the policies of the user count instead."
          />
        </>
      )}
    </Detail>
  );
}

/** The settings of the Client's password grant as text, such as `opaque, 3600 s, with refresh tokens`. */
function tokenOf(client: Row): string {
  const auth = client['auth'] as { readonly password?: Row } | undefined;
  const password = auth?.password;
  if (password === undefined) return '';
  return [
    password['token_format'] === 'jwt' ? 'JWT' : 'opaque',
    `${textAt(password, 'token_expiration') || '3600'} s`,
    ...(password['refresh_token'] === true ? ['with refresh tokens'] : []),
    ...(password['secret_required'] === true ? ['secret required'] : []),
  ].join(', ');
}
