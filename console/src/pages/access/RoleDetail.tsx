import { type ReactElement } from 'react';
import { hashOf } from '../../app/routes';
import { Detail, Facts } from './Detail';
import { PoliciesThatCover } from './PoliciesThatCover';
import { idOf, textAt } from './resource-text';

export const RoleDetail = ({ id }: { readonly id: string }): ReactElement => (
  <Detail type="Role" id={id} path="roles" what="Role">
    {(role) => {
      const [name, user] = [textAt(role, 'name'), idOf(role['user']) ?? ''];
      return (
        <>
          <Facts
            facts={[
              ['Name', <strong key="name">{name}</strong>],
              [
                'Held by',
                <a key="user" href={hashOf('access', ['users', user])}>
                  User {user}
                </a>,
              ],
              ['Description', textAt(role, 'description')],
            ]}
          />
          <PoliciesThatCover covers={({ roleName }) => roleName === name} title={`Policies for the role ${name}`} />
        </>
      );
    }}
  </Detail>
);
