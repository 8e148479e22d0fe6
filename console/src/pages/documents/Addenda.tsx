import { type ReactElement } from 'react';
import { FieldTable } from '../../parts/body/FieldTable';
import { type NameOf } from '../../parts/names';
import { type AddendumAnswer, kindOf } from './record';
import { Status } from './Status';
import { Who } from './Who';
import css from './documents.module.css';

interface Props {
  readonly title: string;
  readonly addenda: readonly AddendumAnswer[];
  readonly nameOf: NameOf;
  readonly isWhole?: boolean;
}

/** Notes, comments, status changes and addenda of own types, in order. */
export const Addenda = ({ title, addenda, nameOf, isWhole = false }: Props): ReactElement => (
  <section className={css.addenda} aria-label={title}>
    <h3>{title}</h3>
    <ol>
      {addenda.map((addendum) => (
        <li key={addendum.sequence}>
          <Addendum addendum={addendum} nameOf={nameOf} isWhole={isWhole} />
        </li>
      ))}
    </ol>
  </section>
);

interface OneProps {
  readonly addendum: AddendumAnswer;
  readonly nameOf: NameOf;
  readonly isWhole?: boolean;
  /** Whether the addendum is shown next to its field. */
  readonly isInPlace?: boolean;
}

export function Addendum({ addendum, nameOf, isWhole = false, isInPlace = false }: OneProps): ReactElement {
  const { sequence, type, text, status, about, lost, isAsShown, values = [] } = addendum;
  if (lost !== undefined)
    return (
      <p className={`${css.addendum} ${css.lost}`}>
        Addendum {sequence} cannot be shown. {lost}
      </p>
    );
  return (
    <article className={`${css.addendum} ${css[kindOf(type).toLowerCase()] ?? ''}`}>
      <header className="row">
        <strong>{kindOf(type)}</strong>
        {status !== undefined && <Status status={status} />}
        <Who addendum={addendum} nameOf={nameOf} />
      </header>
      {about !== undefined && !isInPlace && (
        <p className="fine">
          On {about.label.join(' › ')}
          {about.value !== undefined &&
            ` (then ${about.value.text}${about.value.unit === undefined ? '' : ` ${about.value.unit}`})`}
          {!about.isFound && ', which the document does not have'}
        </p>
      )}
      {text !== undefined && <p className={css.said}>{text}</p>}
      {isAsShown === true && <p className="fine">It lists the same changes as are shown above.</p>}
      {isAsShown === false && <p className="fine">It lists other changes than the signed contents have:</p>}
      {values.length > 0 && <FieldTable label={`Members of addendum ${sequence}`} rows={values} isWhole={isWhole} />}
    </article>
  );
}
