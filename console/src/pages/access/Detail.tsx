import { type ReactElement, type ReactNode } from 'react';
import { type ResourceType } from 'svc-health-client';
import { hashOf } from '../../app/routes';
import { Answer } from '../../parts/Answer';
import { Json } from '../../parts/Json';
import { Panel } from '../../parts/Panel';
import { type Row } from '../../parts/search-pages';
import { useResource } from '../../parts/use-resource';
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
      <Answer of={useResource(type, id)} what={`the ${what.toLowerCase()}`}>
        {(resource) => (
          <>
            {children(resource)}
            <Panel title="JSON">
              <Json value={resource} label={`${type}/${id}`} maxLines={20} />
            </Panel>
          </>
        )}
      </Answer>
    </div>
  );
}
