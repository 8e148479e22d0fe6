import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { goTo, hashOf } from '../../app/routes';
import { useSession } from '../../app/session';
import { Answer } from '../../parts/Answer';
import { Badge } from '../../parts/Badge';
import { Combobox } from '../../parts/Combobox';
import { Empty } from '../../parts/Empty';
import { Fault } from '../../parts/Fault';
import { Field, SelectField } from '../../parts/Field';
import { type Column, Table } from '../../parts/Table';
import { Time } from '../../parts/Time';
import { useList } from '../../parts/use-list';
import { CloseOwn } from './CloseOwn';
import { CloseSessions } from './CloseSessions';
import { type Row } from '../../parts/search-pages';
import { idOf, textAt } from './resource-text';
import { useNamed } from './use-options';
import css from './access.module.css';

interface Props {
  readonly user: string;
  readonly client: string;
}

const STATES = { open: 'Open', ended: 'Ended', all: 'All' } as const;
type State = keyof typeof STATES;

/** The Sessions, filtered by User and Client. One Session or all of them can be closed. */
export function SessionsTab({ user: userFilter, client: clientFilter }: Props): ReactElement {
  const { client, userId } = useSession();
  const queries = useQueryClient();
  const [user, setUser] = useState(userFilter);
  const [app, setApp] = useState(clientFilter);
  const [state, setState] = useState<State>('open');
  const [isClosing, setIsClosing] = useState(false);
  const [own, setOwn] = useState<string>();
  const [closed, setClosed] = useState<string>();
  const users = useNamed('User', user, true);
  const apps = useNamed('Client', app, true);
  const filter = {
    ...(userFilter === '' ? {} : { user: `User/${userFilter}` }),
    ...(clientFilter === '' ? {} : { client: `Client/${clientFilter}` }),
  };
  const owners = [userFilter, clientFilter].filter((name) => name !== '').join(' by ');
  const list = useList('Session', {
    ...filter,
    ...(state === 'all' ? {} : { active: state === 'open' }),
    _sort: '-start',
    _count: 100,
  });
  const close = useMutation({
    mutationFn: (row: Row) => client.sessions.close(textAt(row, 'id')),
    onMutate: () => setClosed(undefined),
    onSuccess: (_answer, row) => {
      setClosed(ownerOf(row));
      list.change(textAt(row, 'id'), state === 'open' ? undefined : { ...row, active: false });
    },
  });
  const apply = (next: { user?: string; client?: string } = {}): void =>
    goTo(hashOf('access', ['sessions'], { user: (next.user ?? user).trim(), client: (next.client ?? app).trim() }));

  /**
   * Whether the signed-in User got this Session by a login to the console. It may be the Session that this page uses.
   */
  const isOwn = (row: Row): boolean => idOf(row['user']) === userId && textAt(row, 'client') === 'console';

  const columns: readonly Column<Row>[] = [
    {
      key: 'user',
      label: 'User',
      width: 'minmax(72px, 1.2fr)',
      render: (row) => {
        const id = idOf(row['user']);
        return id === undefined ? (
          <span className="faint">none</span>
        ) : (
          <>
            <a href={hashOf('access', ['users', id])}>{id}</a>
            {isOwn(row) && <span className="faint"> (you)</span>}
          </>
        );
      },
    },
    {
      key: 'client',
      label: 'Client',
      width: 'minmax(64px, 1fr)',
      render: (row) => <a href={hashOf('access', ['clients', textAt(row, 'client')])}>{textAt(row, 'client')}</a>,
    },
    { key: 'type', label: 'Grant', width: 'minmax(90px, 1fr)', isWide: true, render: (row) => textAt(row, 'type') },
    {
      key: 'start',
      label: 'Started',
      width: 'minmax(62px, 1fr)',
      render: (row) => <Time value={textAt(row, 'start')} as="ago" />,
    },
    {
      key: 'exp',
      label: 'Token until',
      width: '148px',
      isWide: true,
      render: (row) => <TokenEnd row={row} />,
    },
    {
      key: 'close',
      label: 'Action',
      width: '62px',
      align: 'end',
      render: (row) =>
        row['active'] === true ? (
          <button
            type="button"
            className="button small"
            disabled={close.isPending && close.variables['id'] === row['id']}
            aria-label={`Close the session of ${ownerOf(row)} that started ${textAt(row, 'start')}`}
            onClick={() => (isOwn(row) ? setOwn(textAt(row, 'id')) : close.mutate(row))}
          >
            Close
          </button>
        ) : (
          <Badge>ended</Badge>
        ),
    },
  ];

  return (
    <div className={css.sessions}>
      <form
        className={css.filters}
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <Field label="User">
          {(field) => (
            <Combobox
              field={field}
              isSearch
              value={user}
              options={users}
              onChange={setUser}
              onChoose={({ text }) => apply({ user: text })}
              onEnter={() => apply()}
              placeholder="Any"
            />
          )}
        </Field>
        <Field label="Client">
          {(field) => (
            <Combobox
              field={field}
              value={app}
              options={apps}
              onChange={setApp}
              onChoose={({ text }) => apply({ client: text })}
              onEnter={() => apply()}
              placeholder="Any"
            />
          )}
        </Field>
        <SelectField
          label="State"
          value={state}
          options={Object.entries(STATES)}
          onChange={(next) => setState(next as State)}
        />
        <button type="submit" className="button">
          Filter
        </button>
      </form>
      {closed !== undefined && (
        <p role="status" className={css.done}>
          A session of {closed} is closed: its tokens are refused from now on.
        </p>
      )}
      {close.isError && <Fault error={close.error} what="that the session was closed" />}
      <Answer of={list} what="the sessions">
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={state === 'open' ? 'No session is open for this filter' : 'No session fits this filter'}>
              Each login makes one: POST /auth/token
            </Empty>
          ) : (
            <>
              <div className={css.listHead}>
                <p className="fine" role="status">
                  {list.total ?? rows.length} sessions
                </p>
                {state === 'open' && owners !== '' && (
                  <button type="button" className="button danger" onClick={() => setIsClosing(true)}>
                    Close all of {owners}
                  </button>
                )}
              </div>
              <Table
                label="Sessions"
                rows={rows}
                columns={columns}
                keyOf={(row) => textAt(row, 'id')}
                onEnd={list.loadMore}
                rowHeight={40}
                total={list.total}
              />
            </>
          )
        }
      </Answer>
      {own !== undefined && (
        <CloseOwn
          onClose={() => setOwn(undefined)}
          onSure={() => {
            setOwn(undefined);
            close.mutate({ id: own, user: { id: userId } });
          }}
        />
      )}
      {isClosing && (
        <CloseSessions
          filter={filter}
          of={owners}
          isOwn={userFilter === userId || (userFilter === '' && clientFilter === 'console')}
          onClose={() => {
            setIsClosing(false);
            void queries.invalidateQueries({ queryKey: ['list', userId, 'Session'] });
          }}
        />
      )}
    </div>
  );
}

const ownerOf = (row: Row): string => idOf(row['user']) ?? textAt(row, 'client');

/**
 * The time at which the access token of a Session expires. The Session remains open after that, as long as its refresh
 * token is valid.
 */
function TokenEnd({ row }: { readonly row: Row }): ReactElement {
  const { exp, active } = row;
  if (typeof exp !== 'number') return <></>;
  if (active === true && exp * 1000 < Date.now()) return <span className="faint">expired, may be renewed</span>;
  return <Time value={exp * 1000} />;
}
