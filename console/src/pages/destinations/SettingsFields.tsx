import { type ReactElement } from 'react';
import { Combobox } from '../../parts/Combobox';
import { Check, Field, SelectField, TextField } from '../../parts/Field';
import { HeaderFields } from './HeaderFields';
import { type Faults, MASK, type Settings } from './settings';
import { useTopics } from './use-topics';
import css from './destinations.module.css';

interface Props {
  readonly settings: Settings;
  readonly faults: Faults;
  readonly onChange: (change: Partial<Settings>) => void;
  /** Whether the form was opened to correct the endpoint, which then has the focus. */
  readonly isCorrecting?: boolean;
}

const CONTENTS = ['full-resource', 'id-only', 'empty'] as const;
const KEEPS = `${MASK} keeps the stored value, on the same host`;
const numeric = (placeholder: string) => ({ inputMode: 'numeric', placeholder }) as const;

/** The members of a webhook except its id and its secrets. */
export function SettingsFields({ settings, faults, onChange, isCorrecting = false }: Props): ReactElement {
  const topics = useTopics();
  const text = (
    name: 'endpoint' | 'timeout' | 'keepAlive' | 'maxMessagesInBatch',
    label: string,
    hint: string,
    input: { readonly inputMode: 'url' | 'numeric'; readonly placeholder: string; readonly autoFocus?: boolean },
  ): ReactElement => (
    <TextField
      label={label}
      hint={hint}
      fault={faults[name]}
      {...input}
      value={settings[name]}
      onChange={(typed) => onChange({ [name]: typed.trim() })}
    />
  );
  return (
    <>
      {text(
        'endpoint',
        'Endpoint',
        settings.endpoint.includes(MASK) ? KEEPS : 'The URL that notifications are sent to',
        {
          inputMode: 'url',
          placeholder: 'https://',
          autoFocus: isCorrecting,
        },
      )}
      <Field label="Topic" hint="The canonical URL of the topic whose events are delivered" fault={faults.topic}>
        {(field) => (
          <Combobox
            field={field}
            value={settings.topic}
            options={(topics.data ?? []).flatMap(({ url, title }) =>
              url === undefined ? [] : [{ text: url, ...(title === undefined ? {} : { note: title }) }],
            )}
            onChange={(topic) => onChange({ topic: topic.trim() })}
          />
        )}
      </Field>
      <div className={css.pair}>
        {text('timeout', 'Timeout, seconds', 'How long a receiver may take to answer', numeric('30 (default)'))}
        {text(
          'maxMessagesInBatch',
          'Most events in one notification',
          'More of them wait for the next one',
          numeric('20 (default)'),
        )}
      </div>
      <div className={css.pair}>
        {text(
          'keepAlive',
          'Keep connections open, seconds',
          '-1 closes each after its answer',
          numeric('120 (default)'),
        )}
        <SelectField
          label="Content"
          hint="How much of the written resource is sent"
          fault={faults.content}
          value={settings.content}
          options={CONTENTS}
          onChange={(content) => onChange({ content: CONTENTS.find((one) => one === content) ?? 'full-resource' })}
        />
      </div>
      <HeaderFields headers={settings.headers} fault={faults.headers} onChange={(headers) => onChange({ headers })} />
      <Check isOn={settings.includeEntryAction} onSwitch={(includeEntryAction) => onChange({ includeEntryAction })}>
        Name the action of each event
      </Check>
      <Check
        isOn={settings.includeVersionIdInFocusReference}
        onSwitch={(includeVersionIdInFocusReference) => onChange({ includeVersionIdInFocusReference })}
      >
        Refer to the version of the resource
      </Check>
    </>
  );
}
