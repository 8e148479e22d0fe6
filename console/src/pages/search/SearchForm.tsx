import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactElement, useMemo, useRef } from 'react';
import { useSession } from '../../app/session';
import { capabilitiesOf } from '../../parts/capabilities';
import { Combobox } from '../../parts/Combobox';
import { Check } from '../../parts/Field';
import { completeName, completeValue, valueHint } from './complete';
import { type DraftRow, pastedSearch, type SearchDraft } from './typed-search';
import { type Vocabulary, vocabularyOf } from './vocabulary';
import css from './search.module.css';

interface Props {
  readonly draft: SearchDraft;
  readonly onChange: (draft: SearchDraft) => void;
  readonly onRun: (draft: SearchDraft) => void;
  readonly fault: string | undefined;
  readonly isExplained: boolean;
  readonly onExplained: (isExplained: boolean) => void;
}

const MOST_TYPES = 12;
const NO_WORDS: Vocabulary = { types: new Map(), targetsOf: () => [] };

/** A type and parameters, with completion from `/metadata`. */
export function SearchForm({ draft, onChange, onRun, fault, isExplained, onExplained }: Props): ReactElement {
  const { client } = useSession();
  const { data: capabilities } = useQuery(capabilitiesOf(client));
  const words = useMemo(() => (capabilities === undefined ? NO_WORDS : vocabularyOf(capabilities)), [capabilities]);
  const { type, rows } = draft;
  const form = useRef<HTMLFormElement>(null);
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    onRun(draft);
  };
  const types = useMemo(() => {
    const begun = type.trim().toLowerCase();
    return [...words.types.keys()]
      .filter((one) => one.toLowerCase().startsWith(begun) && one !== type)
      .slice(0, MOST_TYPES)
      .map((text) => ({ text }));
  }, [words, type]);

  const focusName = (at: number): void => {
    form.current?.querySelectorAll<HTMLElement>('[data-name] input')[at]?.focus();
  };
  const takeText = (text: string): boolean => {
    const pasted = pastedSearch(text);
    if (pasted === undefined) return false;
    // A typed "?" ends the type, and the focus moves to the empty last row. A whole query typed there is split into
    // rows when the search runs.
    const isTyped = text.trim().endsWith('?');
    onChange(isTyped ? { type: pasted.type, rows } : pasted);
    if (isTyped) focusName(rows.length - 1);
    return true;
  };
  const change = (key: number, changed: Partial<DraftRow>): void => {
    if (changed.name !== undefined && takeText(changed.name)) return;
    const next = rows.map((row) => (row.key === key ? { ...row, ...changed } : row));
    const last = next.at(-1);
    // There is always an empty last row.
    const isFull = last === undefined || last.name !== '' || last.value !== '';
    const free = Math.max(-1, ...next.map((row) => row.key)) + 1;
    onChange({ type, rows: isFull ? [...next, { key: free, name: '', value: '' }] : next });
  };
  const remove = (key: number): void => {
    const at = rows.findIndex((row) => row.key === key);
    onChange({ type, rows: rows.filter((row) => row.key !== key) });
    // The next row takes the position of the removed one, and the focus stays at that position.
    requestAnimationFrame(() => focusName(at));
  };

  return (
    <form className={`panel ${css.searchForm}`} role="search" aria-label="Search" ref={form} onSubmit={submit}>
      <div
        className={css.searchType}
        // Selects the old text, so that a pasted search replaces it.
        onFocus={({ target }) => {
          if (target instanceof HTMLInputElement) target.select();
        }}
      >
        <span className={css.searchVerb} aria-hidden="true">
          GET /fhir/
        </span>
        <Combobox
          label="Resource type"
          isMono
          isSearch
          value={type}
          options={types}
          onChange={(text) => {
            if (!takeText(text)) onChange({ type: text, rows });
          }}
          onEnter={submit}
          placeholder="Observation"
        />
        <button type="submit" className="button primary">
          Run
        </button>
      </div>
      {fault !== undefined && (
        <p className={css.searchFault} role="alert">
          {fault}
        </p>
      )}
      <ul className={css.parameters} aria-label="Parameters">
        {rows.map(({ key, name, value }, index) => {
          const hint = name === '' ? undefined : valueHint(words, type, name);
          return (
            <li key={key}>
              <div data-name>
                <Combobox
                  label={`Name of parameter ${index + 1}`}
                  isMono
                  value={name}
                  options={completeName(words, type, name).filter(({ text }) => text !== name)}
                  onChange={(text) => change(key, { name: text })}
                  onEnter={submit}
                  placeholder={index === 0 ? 'code, subject:Patient.name, _sort …' : 'another parameter'}
                />
              </div>
              <span aria-hidden="true">=</span>
              <Combobox
                label={`Value of parameter ${index + 1}`}
                isMono
                value={value}
                options={completeValue(words, type, name, value).filter(({ text }) => text !== value)}
                onChange={(text) => change(key, { value: text })}
                onEnter={submit}
                placeholder={hint ?? ''}
              />
              <button
                type="button"
                className="button quiet icon"
                aria-label={`Remove parameter ${index + 1}`}
                disabled={index === rows.length - 1}
                onClick={() => remove(key)}
              >
                ✕
              </button>
            </li>
          );
        })}
      </ul>
      <Check isOn={isExplained} onSwitch={onExplained}>
        With its plan <span className="fine">(the search runs twice)</span>
      </Check>
    </form>
  );
}
