import { type KeyboardEvent, type ReactElement, useId, useRef, useState } from 'react';
import css from './combobox.module.css';

export interface Option {
  /** The text of the field after choosing this option. */
  readonly text: string;
  /** The meaning of the option, in a few words. */
  readonly note?: string;
  /** Whether more text follows the option, so that the list stays open. */
  readonly isOpen?: boolean;
}

interface Props {
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (text: string) => void;
  /** Called when an option is chosen, in addition to `onChange`. */
  readonly onChoose?: (option: Option) => void;
  /** Called on Enter without a chosen option. */
  readonly onEnter?: () => void;
  readonly placeholder?: string;
  /** Attributes from `Field` that link the field to its label; without them pass `label`. */
  readonly field?: { readonly id: string; readonly className: string };
  readonly label?: string;
  readonly isMono?: boolean;
  readonly isSearch?: boolean;
}

/** A text field with suggestions, by WAI-ARIA's pattern: arrow keys move, Enter chooses, Esc closes the list. */
export function Combobox({
  value,
  options,
  onChange,
  onChoose,
  onEnter,
  placeholder,
  field,
  label,
  isMono = false,
  isSearch = false,
}: Props): ReactElement {
  const id = useId();
  const [isListed, setIsListed] = useState(false);
  const [at, setAt] = useState(-1);
  const list = useRef<HTMLUListElement>(null);
  const isShown = isListed && options.length > 0;
  const chosen = isShown ? options[at] : undefined;

  const choose = (option: Option): void => {
    onChange(option.text);
    onChoose?.(option);
    setAt(-1);
    setIsListed(option.isOpen === true);
  };
  const moveTo = (next: number): void => {
    const to = (next + options.length) % options.length;
    setIsListed(true);
    setAt(to);
    list.current?.children[to]?.scrollIntoView({ block: 'nearest' });
  };
  const press = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown' && options.length > 0) moveTo(at + 1);
    else if (event.key === 'ArrowUp' && options.length > 0) moveTo(at < 0 ? options.length - 1 : at - 1);
    else if (event.key === 'Enter' && chosen !== undefined) choose(chosen);
    else if (event.key === 'Enter') {
      setIsListed(false);
      onEnter?.();
      if (onEnter === undefined) return;
    } else if (event.key === 'Escape' && isShown) setIsListed(false);
    else return;
    event.preventDefault();
  };

  return (
    <div
      className={css.combobox}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setIsListed(false);
      }}
    >
      <input
        {...(field ?? { className: 'input', 'aria-label': label })}
        {...(isSearch ? { 'data-search': true } : {})}
        className={isMono ? 'input mono' : 'input'}
        role="combobox"
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={chosen === undefined ? undefined : `${id}-${at}`}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        placeholder={placeholder}
        value={value}
        onChange={({ target }) => {
          onChange(target.value);
          setIsListed(true);
          setAt(-1);
        }}
        onClick={() => setIsListed(true)}
        onKeyDown={press}
      />
      <ul id={`${id}-list`} ref={list} role="listbox" aria-label={label ?? 'Suggestions'} hidden={!isShown}>
        {isShown &&
          options.map((option, index) => (
            <li
              key={option.text}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              // Keeps the focus in the field.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(option)}
            >
              <span className={isMono ? 'mono' : undefined}>{option.text}</span>
              {option.note !== undefined && <span className="fine">{option.note}</span>}
            </li>
          ))}
      </ul>
    </div>
  );
}
