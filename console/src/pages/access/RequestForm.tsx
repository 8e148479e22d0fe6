import { type FormEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { Combobox } from '../../parts/Combobox';
import { Field, SelectField, TextField } from '../../parts/Field';
import { type Draft, faultsIn, takesBody, withMethodOf } from './draft';
import { METHODS } from './typed-request';
import { useNamed, usePaths } from './use-options';
import css from './access.module.css';

interface Props {
  readonly draft: Draft;
  /**
   * How often a link of the console has filled in the form. After each time, the cursor is placed at the end of the
   * path, so that the user can complete it.
   */
  readonly begun: number;
  readonly onChange: (draft: Draft) => void;
  readonly onSubmit: (draft: Draft) => void;
}

/** The form that describes a request: its caller, its method and its path. */
export function RequestForm({ draft, begun, onChange, onSubmit }: Props): ReactElement {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const input = begun === 0 ? null : line.current?.querySelector('input');
    input?.focus();
    input?.setSelectionRange(input.value.length, input.value.length);
  }, [begun]);
  const [isTried, setIsTried] = useState(false);
  const faults = isTried ? faultsIn(draft) : {};
  const change = (changed: Partial<Draft>): void => onChange({ ...draft, ...changed });
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    setIsTried(true);
    if (Object.keys(faultsIn(draft)).length === 0) onSubmit(draft);
  };
  const users = useNamed('User', draft.user, draft.who === 'user');
  const clients = useNamed('Client', draft.client, true);
  const paths = usePaths(draft.request);
  const clientBox = (field: { readonly id: string; readonly className: string }): ReactElement => (
    <Combobox
      field={field}
      value={draft.client}
      options={clients}
      onChange={(client) => change({ client })}
      onEnter={submit}
      placeholder="kiosk"
    />
  );

  return (
    <form className={css.requestForm} onSubmit={submit}>
      <fieldset className={css.choice}>
        <legend>Who asks?</legend>
        {(['user', 'client'] as const).map((who) => (
          <label key={who}>
            <input type="radio" name="who" checked={draft.who === who} onChange={() => change({ who })} />
            {who === 'user' ? 'A user' : 'A client by itself'}
          </label>
        ))}
      </fieldset>
      {draft.who === 'user' && (
        <Field label="User" hint="Name, id, user name or email" fault={faults.user}>
          {(field) => (
            <Combobox
              field={field}
              value={draft.user}
              options={users}
              onChange={(user) => change({ user })}
              onEnter={submit}
              placeholder="ana"
            />
          )}
        </Field>
      )}
      {draft.who === 'client' && (
        <Field label="Client" fault={faults.client}>
          {clientBox}
        </Field>
      )}
      <div className={css.requestLine} ref={line}>
        <SelectField label="Method" value={draft.method} options={METHODS} onChange={(method) => change({ method })} />
        <Field label="Path and query" hint="Or the name of a patient" fault={faults.request}>
          {(field) => (
            <Combobox
              field={field}
              isMono
              value={draft.request}
              options={paths}
              onChange={(request) => onChange(withMethodOf(draft, request))}
              onEnter={submit}
              placeholder="/fhir/Patient/p7"
            />
          )}
        </Field>
      </div>
      {takesBody(draft.method) && (
        <Field label="Body" hint="JSON; only where policies read it" fault={faults.body}>
          {(field) => (
            <textarea
              {...field}
              spellCheck={false}
              value={draft.body}
              onChange={({ target }) => change({ body: target.value })}
            />
          )}
        </Field>
      )}
      <details className={css.more}>
        <summary>More about the request</summary>
        <div className={css.requestMore}>
          {draft.who === 'user' && (
            <Field label="Client of the token" hint="With a user’s token, links to clients do not count.">
              {clientBox}
            </Field>
          )}
          <TextField
            label="Address of the caller"
            hint="For policies that read remote-addr"
            autoComplete="off"
            value={draft.address}
            onChange={(address) => change({ address })}
          />
        </div>
      </details>
      <button type="submit" className="button primary">
        Why?
      </button>
    </form>
  );
}
