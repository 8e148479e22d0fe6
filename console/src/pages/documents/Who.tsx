import { type ReactElement } from 'react';
import { Badge } from '../../parts/Badge';
import { type NameOf } from '../../parts/names';
import { Time } from '../../parts/Time';
import { type AddendumAnswer } from './record';
import css from './documents.module.css';

interface Props {
  readonly addendum: Pick<AddendumAnswer, 'user' | 'recorder' | 'date' | 'isProven'>;
  readonly nameOf: NameOf;
}

/** Author and time, and the recorder if another caller acted for the author. */
export function Who({ addendum: { user, recorder, date, isProven }, nameOf }: Props): ReactElement {
  const isOther = recorder !== undefined && (recorder.id !== user?.id || recorder.resourceType !== user.resourceType);
  return (
    <span className={css.who}>
      {user !== undefined && <span title={`${user.resourceType}/${user.id}`}>{nameOf(user)}</span>}
      {isOther && <span className="faint">recorded by {nameOf(recorder)}</span>}
      {date !== undefined && <Time value={date} as="zoned" />}
      {isProven === false && <Badge tone="bad">not covered by the chain</Badge>}
    </span>
  );
}
