import { type ReactElement } from 'react';
import { hashOf } from '../../app/routes';
import { Fact } from '../../parts/Fact';
import { Detail } from './Detail';
import { PoliciesThatCover } from './PoliciesThatCover';
import { idOf, textAt } from './resource-text';
import css from './access.module.css';

export const RoleDetail = ({ id }: { readonly id: string }): ReactElement => (
  <Detail type="Role" id={id} path="roles" what="Role">
    {(role) => {
      const [name, user] = [textAt(role, 'name'), idOf(role['user']) ?? ''];
      return (
        <>
          <dl className={css.facts}>
            <Fact name="Name">
              <strong>{name}</strong>
            </Fact>
            <Fact name="Held by">
              <a href={hashOf('access', ['users', user])}>User {user}</a>
            </Fact>
            <Fact name="Description">{textAt(role, 'description')}</Fact>
          </dl>
          <PoliciesThatCover covers={({ roleName }) => roleName === name} title={`Policies for the role ${name}`} />
        </>
      );
    }}
  </Detail>
);
