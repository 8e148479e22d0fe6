import { type ReactElement, useState } from 'react';
import { goTo, hashOf } from '../../app/routes';
import { Field } from '../../parts/Field';
import { decisionIdIn } from './typed-request';
import css from './access.module.css';

/** Opens the decision that a refusal names. */
export function DecisionBox(): ReactElement {
  const [text, setText] = useState('');
  const [isAsked, setIsAsked] = useState(false);
  const open = (from: string): void => {
    const id = decisionIdIn(from);
    setIsAsked(true);
    if (id !== undefined) goTo(hashOf('access', ['decisions', id]));
  };
  return (
    <form
      className={css.decisionBox}
      onSubmit={(event) => {
        event.preventDefault();
        open(text);
      }}
    >
      <Field
        label="Decision id, or the whole text of a 403"
        hint="Every refusal by a policy names its decision. It is kept for a day."
        fault={isAsked && decisionIdIn(text) === undefined ? 'There is no decision id in this text.' : undefined}
      >
        {(field) => (
          <input
            {...field}
            data-search
            autoComplete="off"
            spellCheck={false}
            placeholder="0f8fad5b-d9cb-469f-a165-70867728950e"
            value={text}
            onChange={({ target }) => {
              setText(target.value);
              setIsAsked(false);
            }}
            onPaste={({ clipboardData }) => {
              const pasted = clipboardData.getData('text');
              if (decisionIdIn(pasted) !== undefined) open(pasted);
            }}
          />
        )}
      </Field>
      <button type="submit" className="button">
        Explain
      </button>
    </form>
  );
}
