import { type ReactElement } from 'react';
import { type ResourceType } from 'svc-health-client';
import { goTo, hashOf } from '../../app/routes';
import { Answer } from '../../parts/Answer';
import { Badge } from '../../parts/Badge';
import { Empty } from '../../parts/Empty';
import { nameIn } from '../../parts/names';
import { type Column, Table } from '../../parts/Table';
import { useKept } from '../../parts/use-kept';
import { useList } from '../../parts/use-list';
import { useSettled } from '../../parts/use-settled';
import { CoveredBadges } from './CoveredBadges';
import { coveredBy, type PolicyBody, summaryOf } from './policy-reading';
import { type Row, textSearch } from '../../parts/search-pages';
import { textAt } from './resource-text';
import css from './access.module.css';

interface Props {
  readonly type: ResourceType;
  /** The segment of the address: `users`. */
  readonly path: string;
  readonly what: string;
  readonly hint: string;
  readonly columns: readonly Column<Row>[];
  /** An example request that stores a resource of the type. */
  readonly command: string;
}

/** A list of one type with a text search. */
function Directory({ type, path, what, hint, columns, command }: Props): ReactElement {
  const [typed, setTyped] = useKept(`access-${path}`, '');
  const words = useSettled(typed.trim());
  const list = useList(type, {
    _count: 100,
    _sort: '-_lastUpdated',
    ...textSearch(words),
  });
  return (
    <div className={css.directory}>
      <label className={css.searchField}>
        <span className="hidden">Search {what}</span>
        <input
          type="search"
          className="input"
          data-search
          placeholder={hint}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </label>
      <Answer of={list} what={`the ${what}`}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty
              title={
                words === '' ? `There are no ${what} that you may see` : `No ${what} have “${words}” in their text`
              }
              {...(words === '' ? { command } : {})}
            />
          ) : (
            <>
              <p className="fine" role="status">
                {list.total ?? rows.length} {what}
              </p>
              <Table
                label={what}
                rows={rows}
                columns={columns}
                keyOf={(row) => textAt(row, 'id')}
                onOpen={(row) => goTo(hashOf('access', [path, textAt(row, 'id')]))}
                onEnd={list.loadMore}
                total={list.total}
              />
            </>
          )
        }
      </Answer>
    </div>
  );
}

const linkTo = (path: string, row: Row): ReactElement => (
  <a href={hashOf('access', [path, textAt(row, 'id')])} onClick={(event) => event.stopPropagation()}>
    {textAt(row, 'id')}
  </a>
);

export const stateOf = (isOff: boolean): ReactElement =>
  isOff ? <Badge tone="warn">inactive</Badge> : <Badge tone="good">active</Badge>;

const put = (path: string, body: object): string =>
  `curl -u root:SECRET -X PUT ADDRESS/${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;

export const UserList = (): ReactElement => (
  <Directory
    type="User"
    path="users"
    what="users"
    hint="Name, user name, email …"
    command={put('User/ana', { userName: 'ana', password: 'a long password' })}
    columns={[
      { key: 'id', label: 'Id', width: 'minmax(120px, 1.2fr)', render: (row) => linkTo('users', row) },
      { key: 'name', label: 'Name', width: 'minmax(120px, 1.4fr)', render: (row) => nameIn(row) ?? '' },
      {
        key: 'email',
        label: 'Email',
        width: 'minmax(160px, 1.6fr)',
        isWide: true,
        render: (row) => textAt(row, 'email'),
      },
      { key: 'state', label: 'State', width: '84px', render: (row) => stateOf(row['inactive'] === true) },
    ]}
  />
);

export const ClientList = (): ReactElement => (
  <Directory
    type="Client"
    path="clients"
    what="clients"
    hint="Id, grant, description …"
    command={put('Client/app', { grant_types: ['password'] })}
    columns={[
      { key: 'id', label: 'Id', width: 'minmax(120px, 1.2fr)', render: (row) => linkTo('clients', row) },
      { key: 'grants', label: 'Grants', width: 'minmax(120px, 2fr)', render: (row) => textAt(row, 'grant_types') },
      { key: 'state', label: 'State', width: '84px', render: (row) => stateOf(row['active'] === false) },
    ]}
  />
);

export const RoleList = (): ReactElement => (
  <Directory
    type="Role"
    path="roles"
    what="roles"
    hint="Name of the role, user …"
    command={put('Role/ana-admin', { name: 'administrator', user: { resourceType: 'User', id: 'ana' } })}
    columns={[
      {
        key: 'name',
        label: 'Role',
        width: 'minmax(110px, 1fr)',
        render: (row) => <strong>{textAt(row, 'name')}</strong>,
      },
      { key: 'user', label: 'User', width: 'minmax(110px, 1fr)', render: (row) => textAt(row, 'user') },
      { key: 'id', label: 'Id', width: 'minmax(120px, 1fr)', isWide: true, render: (row) => linkTo('roles', row) },
    ]}
  />
);

export const PolicyList = (): ReactElement => (
  <Directory
    type="AccessPolicy"
    path="policies"
    what="policies"
    hint="Id, role, anything in the text …"
    command={put('AccessPolicy/ana', { engine: 'allow', link: [{ resourceType: 'User', id: 'ana' }] })}
    columns={[
      { key: 'id', label: 'Id', width: 'minmax(120px, 1.1fr)', render: (row) => linkTo('policies', row) },
      {
        key: 'who',
        label: 'Applies to',
        width: 'minmax(150px, 1.4fr)',
        render: (row) => <CoveredBadges covered={coveredBy(row as PolicyBody)} />,
      },
      {
        key: 'what',
        label: 'What it does',
        width: 'minmax(180px, 2fr)',
        isWide: true,
        render: (row) => summaryOf(row as PolicyBody),
      },
      {
        key: 'engine',
        label: 'Engine',
        width: '90px',
        isWide: true,
        render: (row) => <code>{textAt(row, 'engine')}</code>,
      },
    ]}
  />
);
