import { type ReactElement, useEffect, useState } from 'react';
import { goTo, hashOf } from '../../app/routes';
import { TextField } from '../../parts/Field';
import { decisionIdIn, refusedReadIn } from './typed-request';
import css from './access.module.css';

interface Props {
  /** The id of the decision that is shown. */
  readonly id: string | undefined;
  /** Called if the text names no decision, with the request that the text names, such as `GET /fhir/Patient/p7`. */
  readonly onNothing: (request: string | undefined) => void;
}

/** A field for a refusal. Opens the decision that the refusal names. */
export function DecisionBox({ id, onNothing }: Props): ReactElement {
  const [text, setText] = useState(id ?? '');
  const [isAsked, setIsAsked] = useState(false);
  useEffect(() => {
    if (id !== undefined) setText(id);
  }, [id]);
  const open = (from: string): void => {
    const found = decisionIdIn(from);
    setIsAsked(true);
    if (found !== undefined) goTo(hashOf('access', ['decisions', found]));
    else onNothing(refusedReadIn(from));
  };
  const isHidden = refusedReadIn(text) !== undefined;
  return (
    <form
      className={css.decisionBox}
      onSubmit={(event) => {
        event.preventDefault();
        open(text);
      }}
    >
      <TextField
        label="Decision id, or the whole text of a 403"
        hint="Every refusal by a policy names its decision. It is kept for a day."
        fault={
          !isAsked || decisionIdIn(text) !== undefined
            ? undefined
            : isHidden
              ? 'A 404 names no decision, since policies may hide what is stored. Say below who asked.'
              : 'There is no decision id in this text.'
        }
        data-search
        autoComplete="off"
        spellCheck={false}
        placeholder="0f8fad5b-d9cb-469f-a165-70867728950e"
        value={text}
        onChange={(typed) => {
          setText(typed);
          setIsAsked(false);
        }}
        onPaste={({ clipboardData }) => {
          const pasted = clipboardData.getData('text');
          if (decisionIdIn(pasted) !== undefined) open(pasted);
        }}
      />
      <button type="submit" className="button">
        Explain
      </button>
    </form>
  );
}
