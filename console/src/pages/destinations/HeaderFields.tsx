import { type ReactElement, useId } from 'react';
import { type HeaderText, MASK } from './settings';
import css from './destinations.module.css';

interface Props {
  readonly headers: readonly HeaderText[];
  readonly fault: string | undefined;
  readonly onChange: (headers: readonly HeaderText[]) => void;
}

/** The headers of a webhook. Stored values are hidden: each can be kept or replaced. */
export function HeaderFields({ headers, fault, onChange }: Props): ReactElement {
  const noteId = useId();
  const set = (index: number, change: Partial<HeaderText>): void =>
    onChange(headers.map((header, place) => (place === index ? { ...header, ...change } : header)));
  return (
    <fieldset
      className={fault === undefined ? css.headerFields : `${css.headerFields} ${css.faulty}`}
      aria-describedby={noteId}
    >
      <legend>Headers</legend>
      {headers.map(({ name, value }, index) => (
        <div key={index} className={css.headerField}>
          <input
            className="input"
            aria-label={`Name of header ${index + 1}`}
            placeholder="Authorization"
            value={name}
            readOnly={value === MASK}
            onChange={({ target }) => set(index, { name: target.value.trim() })}
          />
          {value === MASK ? (
            <button
              type="button"
              className="button"
              aria-label={`Replace the value of ${name}`}
              onClick={() => set(index, { value: '' })}
            >
              {MASK} Replace
            </button>
          ) : (
            <input
              className="input"
              type="password"
              autoComplete="off"
              aria-label={`Value of header ${index + 1}`}
              value={value}
              onChange={({ target }) => set(index, { value: target.value })}
            />
          )}
          <button
            type="button"
            className="button quiet icon"
            aria-label={`Remove header ${name === '' ? index + 1 : name}`}
            onClick={() => onChange(headers.filter((_header, place) => place !== index))}
          >
            ✕
          </button>
        </div>
      ))}
      <button type="button" className="button small" onClick={() => onChange([...headers, { name: '', value: '' }])}>
        Add a header
      </button>
      <p id={noteId} className={css.note}>
        {fault ?? 'Values are stored encrypted and shown to nobody here.'}
      </p>
    </fieldset>
  );
}
