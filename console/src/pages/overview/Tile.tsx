import { type ReactElement, type ReactNode } from 'react';
import { type Ink, Sparkline } from '../../parts/Sparkline';
import css from './overview.module.css';

interface Props {
  readonly title: string;
  readonly value: ReactNode;
  readonly unit?: string;
  readonly note?: ReactNode;
  readonly isBad?: boolean;
  /** Values of the latest samples. */
  readonly line?: readonly (number | null)[];
  readonly ink?: Ink;
  /** The address of the page that explains the figure. */
  readonly href?: string;
}

/** A figure, with a plot of its recent values. */
export function Tile({ title, value, unit, note, isBad = false, line, ink = 'accent', href }: Props): ReactElement {
  return (
    <div className={isBad ? `${css.tile} ${css.bad}` : css.tile}>
      <h3>{href === undefined ? title : <a href={href}>{title}</a>}</h3>
      <p className={css.tileValue}>
        {value} {unit !== undefined && <span className={css.tileUnit}>{unit}</span>}
      </p>
      <p className={css.tileNote}>{note ?? '\u00a0'}</p>
      {line !== undefined && (
        <Sparkline label={`${title}: course of the latest ${line.length} samples`} values={line} ink={ink} />
      )}
    </div>
  );
}
