import { type ReactElement } from 'react';
import { hashOf } from '../../app/routes';
import { Answer } from '../../parts/Answer';
import { Fact } from '../../parts/Fact';
import { Panel } from '../../parts/Panel';
import { useList } from '../../parts/use-list';
import { Detail } from './Detail';
import { type Covered, coveredBy, type PolicyBody, summaryOf } from './policy-reading';
import { idOf, textAt } from './resource-text';
import css from './access.module.css';

export const PolicyDetail = ({ id }: { readonly id: string }): ReactElement => (
  <Detail type="AccessPolicy" id={id} path="policies" what="Policy">
    {(row) => {
      const policy = row as PolicyBody;
      const criteria = policy.criteria === undefined ? [] : [policy.criteria].flat();
      return (
        <>
          <p>{summaryOf(policy)}</p>
          <dl className={css.facts}>
            <Fact name="Engine">
              <code>{policy.engine}</code>
            </Fact>
            <Fact name="Calls">{{ rest: 'all but RPC', rpc: 'RPC only' }[policy.type ?? ''] ?? 'all'}</Fact>
            {criteria.length > 0 && (
              <Fact name="Criteria">
                <span className={css.stackSmall}>
                  {criteria.map((criterion) => (
                    <code key={criterion}>{criterion}</code>
                  ))}
                </span>
              </Fact>
            )}
          </dl>
          <Panel title="Applies to">
            <ul className={css.plain}>
              {coveredBy(policy).map((one) => (
                <li key={`${one.kind}/${one.name}`}>
                  <CoveredLine covered={one} />
                </li>
              ))}
            </ul>
            {policy.roleName !== undefined && <Holders role={policy.roleName} />}
          </Panel>
        </>
      );
    }}
  </Detail>
);

function CoveredLine({ covered: { kind, name } }: { readonly covered: Covered }): ReactElement {
  switch (kind) {
    case 'User':
      return <a href={hashOf('access', ['users', name])}>User {name}</a>;
    case 'Client':
      return (
        <>
          <a href={hashOf('access', ['clients', name])}>Client {name}</a>{' '}
          <span className="faint">where it calls by itself</span>
        </>
      );
    case 'Operation':
      return (
        <>
          Everyone who calls <code>{name}</code>
        </>
      );
    case 'Role':
      return (
        <>
          Holders of the role <strong>{name}</strong>
        </>
      );
    case 'everyone':
      return <>Everyone with credentials, for it has neither links nor a role</>;
  }
}

/** The Users who have a Role of this name. */
function Holders({ role }: { readonly role: string }): ReactElement {
  const list = useList('Role', { name: role, _count: 50 });
  return (
    <Answer of={list} what="the holders of the role">
      {(rows) => (
        <p className={css.holders}>
          <span className="faint">{rows.length === 0 ? 'Nobody holds it.' : `${list.total ?? rows.length} now: `}</span>
          {rows.map((row, index) => (
            <span key={textAt(row, 'id')}>
              {index > 0 && ', '}
              <a href={hashOf('access', ['users', idOf(row['user']) ?? ''])}>{idOf(row['user'])}</a>
            </span>
          ))}
          {(list.total ?? 0) > rows.length && ' …'}
        </p>
      )}
    </Answer>
  );
}
