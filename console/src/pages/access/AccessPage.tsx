import { type ReactElement } from 'react';
import { type PageProps } from '../../app/pages';
import { goTo, hashOf } from '../../app/routes';
import { PageHeader } from '../../parts/PageHeader';
import { Tabs } from '../../parts/Tabs';
import { ClientDetail } from './ClientDetail';
import { ClientList, PolicyList, RoleList, UserList } from './Directories';
import { Explain } from './Explain';
import { PolicyDetail } from './PolicyDetail';
import { RoleDetail } from './RoleDetail';
import { SessionsTab } from './SessionsTab';
import { UserDetail } from './UserDetail';

const TABS = [
  { id: 'why', label: 'Why?' },
  { id: 'sessions', label: 'Sessions' },
  { id: 'users', label: 'Users' },
  { id: 'clients', label: 'Clients' },
  { id: 'roles', label: 'Roles' },
  { id: 'policies', label: 'Policies' },
] as const;

/**
 * `#/access` explains requests; `#/access/decisions/{id}` shows a refusal; `#/access/users/ana` and similar addresses
 * open a resource.
 */
export default function AccessPage({ route }: PageProps): ReactElement {
  const [step = 'why', id] = route.steps;
  const asked = route.query.get('decision');
  const decisionId = step === 'decisions' ? id : (asked ?? undefined);
  const tab = TABS.find((one) => one.id === step)?.id ?? 'why';
  return (
    <>
      <PageHeader title="Access">Who is signed in, who may do what, and why a request was refused.</PageHeader>
      <Tabs
        label="Parts of Access"
        tabs={TABS}
        selected={tab}
        onSelect={(to) => goTo(to === 'why' ? hashOf('access') : hashOf('access', [to]))}
      >
        <Shown tab={tab} id={id} decisionId={decisionId} query={route.query} />
      </Tabs>
    </>
  );
}

interface ShownProps {
  readonly tab: (typeof TABS)[number]['id'];
  readonly id: string | undefined;
  readonly decisionId: string | undefined;
  readonly query: URLSearchParams;
}

function Shown({ tab, id, decisionId, query }: ShownProps): ReactElement {
  switch (tab) {
    case 'why':
      return (
        <Explain
          user={query.get('user') ?? undefined}
          client={query.get('client') ?? undefined}
          asked={query.get('request') ?? undefined}
          decisionId={decisionId}
        />
      );
    case 'sessions':
      return <SessionsTab key={query.toString()} user={query.get('user') ?? ''} client={query.get('client') ?? ''} />;
    case 'users':
      return id === undefined ? <UserList /> : <UserDetail key={id} id={id} />;
    case 'clients':
      return id === undefined ? <ClientList /> : <ClientDetail key={id} id={id} />;
    case 'roles':
      return id === undefined ? <RoleList /> : <RoleDetail key={id} id={id} />;
    case 'policies':
      return id === undefined ? <PolicyList /> : <PolicyDetail key={id} id={id} />;
  }
}
