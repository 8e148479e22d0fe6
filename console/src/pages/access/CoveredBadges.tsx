import { type ReactElement } from 'react';
import { Badge } from '../../parts/Badge';
import { type Covered } from './policy-reading';
import css from './access.module.css';

const SHOWN = 3;

/** The callers and requests that a policy covers. */
export function CoveredBadges({ covered }: { readonly covered: readonly Covered[] }): ReactElement {
  return (
    <span className={css.covered}>
      {covered.slice(0, SHOWN).map(({ kind, name }) => (
        <Badge key={`${kind}/${name}`} tone={kind === 'everyone' ? 'warn' : 'neutral'}>
          {kind === 'everyone' ? 'everyone' : `${kind} ${name}`}
        </Badge>
      ))}
      {covered.length > SHOWN && <span className="fine">+{covered.length - SHOWN}</span>}
    </span>
  );
}
