import { useQuery } from '@tanstack/react-query';
import { type ReactElement, type ReactNode } from 'react';
import { type ResourceType } from 'svc-health-client';
import { hashOf } from '../../app/routes';
import { useSession } from '../../app/session';
import { Fault } from '../../parts/Fault';
import { Json } from '../../parts/Json';
import { Panel } from '../../parts/Panel';
import { Waiting } from '../../parts/Waiting';
import { readRow, type Row } from '../../parts/search-pages';
import css from './access.module.css';

interface Props {
  readonly type: ResourceType;
  readonly id: string;
  /** The address of the list that the resource belongs to. */
  readonly path: string;
  readonly what: string;
  readonly actions?: ReactNode;
  readonly children: (resource: Row) => ReactNode;
}

/** The page of one User, Client, Role or policy: its effects, then its JSON. */
export function Detail({ type, id, path, what, actions, children }: Props): ReactElement {
  const { client, userId } = useSession();
  const read = useQuery({
    queryKey: ['access-detail', userId, type, id],
    queryFn: () => readRow(client, type, id),
  });
  return (
    <div className={css.detail}>
      <p className="fine">
        <a href={hashOf('access', [path])}>← All {path}</a>
      </p>
      <div className={css.detailHead}>
        <h2>
          {what} <code className={css.detailId}>{id}</code>
        </h2>
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
      {read.isPending && <Waiting what={`the ${what.toLowerCase()}`} />}
      {read.isError && (
        <Fault error={read.error} what={`the ${what.toLowerCase()}`} onRetry={() => void read.refetch()} />
      )}
      {read.data !== undefined && (
        <>
          {children(read.data)}
          <Panel title="JSON">
            <Json value={read.data} label={`${type}/${id}`} maxLines={20} />
          </Panel>
        </>
      )}
    </div>
  );
}

/** Labels with their values. A label whose value is empty is omitted. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [label: string, value: ReactNode])[];
}): ReactElement {
  return (
    <dl className={css.facts}>
      {facts
        .filter(([, value]) => value !== undefined && value !== '')
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
