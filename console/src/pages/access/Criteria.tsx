import { type ReactElement } from 'react';
import { useResource } from '../../parts/use-resource';
import { ofType, placeholdersIn, valueOf } from './criteria';
import css from './access.module.css';

interface Props {
  readonly criteria: readonly string[];
  readonly user: string | undefined;
  readonly type: string | undefined;
}

/** The row criteria of a grant, with the current values of the User that they refer to. */
export function Criteria({ criteria, user, type }: Props): ReactElement {
  const { shown, others } = ofType(criteria, type);
  const places = placeholdersIn(shown).filter((path) => path.startsWith('user.'));
  const { data } = useResource('User', places.length > 0 ? user : undefined);
  return (
    <div className={css.clause}>
      <p className={css.clauseLabel}>grants only what {shown.length === 1 ? 'this finds' : 'one of these finds'}</p>
      {shown.map((criterion) => (
        <p key={criterion}>
          <code>{criterion}</code>
        </p>
      ))}
      {data !== undefined &&
        places.map((path) => (
          <p key={path}>
            <span className={css.clauseLabel}>where</span> <code>{path}</code>{' '}
            <span className={css.clauseLabel}>is</span> <code>{valueOf({ user: data }, path)}</code>
          </p>
        ))}
      {others > 0 && (
        <p className="fine">
          {shown.length === 0 ? `None for ${type ?? 'this type'}` : 'And'} {others} for other types.
        </p>
      )}
    </div>
  );
}
