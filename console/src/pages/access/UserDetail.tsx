import { type ReactElement } from 'react';
import { hashOf } from '../../app/routes';
import { Answer } from '../../parts/Answer';
import { Badge } from '../../parts/Badge';
import { Fact } from '../../parts/Fact';
import { nameIn } from '../../parts/names';
import { Panel } from '../../parts/Panel';
import { useList } from '../../parts/use-list';
import { Detail } from './Detail';
import { mayCoverUser } from './policy-reading';
import { PoliciesThatCover } from './PoliciesThatCover';
import { Refusals } from './Refusals';
import { textAt } from './resource-text';
import css from './access.module.css';

export function UserDetail({ id }: { readonly id: string }): ReactElement {
  const roles = useList('Role', { user: `User/${id}`, _count: 200, _total: 'none' });
  const names = roles.data?.map((role) => textAt(role, 'name')) ?? [];
  return (
    <Detail
      type="User"
      id={id}
      path="users"
      what="User"
      actions={
        <>
          <a className="button primary" href={hashOf('access', [], { user: id })}>
            Describe a request of {id}
          </a>
          <a className="button" href={hashOf('access', ['sessions'], { user: id })}>
            Sessions
          </a>
        </>
      }
    >
      {(user) => (
        <>
          <dl className={css.facts}>
            <Fact name="Name">{nameIn(user)}</Fact>
            <Fact name="User name">{textAt(user, 'userName')}</Fact>
            <Fact name="Email">{textAt(user, 'email')}</Fact>
            <Fact name="State">
              {user['inactive'] === true ? (
                <Badge tone="warn">inactive: cannot sign in</Badge>
              ) : (
                <Badge tone="good">active</Badge>
              )}
            </Fact>
          </dl>
          <Panel title="Roles">
            <Answer of={roles} what="the roles">
              {(held) =>
                held.length === 0 ? (
                  <p className="faint">Holds no role.</p>
                ) : (
                  <ul className={css.plain}>
                    {held.map((role) => (
                      <li key={textAt(role, 'id')}>
                        <a href={hashOf('access', ['roles', textAt(role, 'id')])}>{textAt(role, 'name')}</a>{' '}
                        <span className="faint">{textAt(role, 'description')}</span>
                      </li>
                    ))}
                  </ul>
                )
              }
            </Answer>
          </Panel>
          <PoliciesThatCover covers={(policy) => mayCoverUser(policy, id, names)} />
          <Refusals user={id} />
        </>
      )}
    </Detail>
  );
}
