import { type ReactElement } from 'react';
import { Field, TextField } from '../../parts/Field';
import { INTERACTIONS, type TriggerDraft } from './topic-draft';
import css from './destinations.module.css';

interface Props {
  readonly triggers: readonly TriggerDraft[];
  readonly onChange: (triggers: readonly TriggerDraft[]) => void;
}

/** The triggers of a topic. A write causes an event if one of them matches. */
export function TriggerFields({ triggers, onChange }: Props): ReactElement {
  const set = (index: number, change: Partial<TriggerDraft>): void =>
    onChange(triggers.map((trigger, place) => (place === index ? { ...trigger, ...change } : trigger)));
  return (
    <>
      {triggers.map(({ resource, interactions, criteria }, index) => (
        <fieldset key={index} className={css.trigger}>
          <legend>Trigger {index + 1}</legend>
          <TextField
            label="Resource type"
            required
            value={resource}
            onChange={(typed) => set(index, { resource: typed.trim() })}
          />
          <div className={css.choice} role="group" aria-label={`Writes of trigger ${index + 1}`}>
            {INTERACTIONS.map((interaction) => {
              const all = interactions.length === 0 ? INTERACTIONS : interactions;
              const isOn = all.includes(interaction);
              return (
                <button
                  key={interaction}
                  type="button"
                  className="button small"
                  aria-pressed={isOn}
                  onClick={() => {
                    const next = INTERACTIONS.filter((one) => (one === interaction ? !isOn : all.includes(one)));
                    set(index, { interactions: next.length === INTERACTIONS.length ? [] : next });
                  }}
                >
                  {interaction}
                </button>
              );
            })}
          </div>
          <Field
            label="Criteria"
            hint="FHIRPath; every write, when empty. %previous and %current are the two versions."
          >
            {(field) => (
              <textarea
                {...field}
                rows={4}
                spellCheck={false}
                value={criteria}
                onChange={({ target }) => set(index, { criteria: target.value })}
              />
            )}
          </Field>
          {triggers.length > 1 && (
            <button
              type="button"
              className="button quiet small"
              onClick={() => onChange(triggers.filter((_one, place) => place !== index))}
            >
              Remove trigger {index + 1}
            </button>
          )}
        </fieldset>
      ))}
      <div>
        <button
          type="button"
          className="button small"
          onClick={() => onChange([...triggers, { resource: 'Patient', interactions: [], criteria: '' }])}
        >
          Add a trigger
        </button>
      </div>
    </>
  );
}
