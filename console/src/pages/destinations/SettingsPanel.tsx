import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactElement, useEffect, useState } from 'react';
import { type Schemas, SvcError } from 'svc-health-client';
import { useClient } from '../../app/session';
import { Fault } from '../../parts/Fault';
import { Field } from '../../parts/Field';
import { Waiting } from '../../parts/Waiting';
import { HeaderFields } from './HeaderFields';
import { SecretPanel } from './SecretPanel';
import { faultsOf, fieldOf, type Settings, settingsOf, withSettings } from './settings';
import { useStoreDestination } from './use-store-destination';
import css from './destinations.module.css';

type Destination = Schemas['SvcTopicDestination'];

const CONTENTS = ['full-resource', 'id-only', 'empty'] as const;

/** Edits a webhook. It is read by a search, which masks every secret, and stored under the condition of its version. */
export function SettingsPanel({ id }: { readonly id: string }): ReactElement {
  const client = useClient();
  const stored = useQuery({
    queryKey: ['destination', id, 'stored'],
    queryFn: async (): Promise<Destination | null> =>
      (await client.search('SvcTopicDestination', { _id: id }).next()).value ?? null,
  });
  if (stored.data === undefined) {
    if (stored.error === null) return <Waiting what="the settings" />;
    return <Fault error={stored.error} what="the settings" onRetry={() => void stored.refetch()} />;
  }
  if (stored.data === null) return <p>The settings are not shown to you: no policy grants the search.</p>;
  return (
    <div className={css.columns}>
      <SettingsForm stored={stored.data} />
      <SecretPanel stored={stored.data} />
    </div>
  );
}

function SettingsForm({ stored }: { readonly stored: Destination }): ReactElement {
  const queries = useQueryClient();
  const store = useStoreDestination();
  const version = stored.meta?.versionId;
  const [edited, setEdited] = useState(() => ({ version, base: stored, settings: settingsOf(stored) }));
  const [isChecked, setIsChecked] = useState(false);
  const { settings, base } = edited;
  const isChanged = JSON.stringify(settings) !== JSON.stringify(settingsOf(base));
  useEffect(() => {
    // Keep unsaved edits when others store a version: the condition of the PUT refuses a conflict.
    if (!isChanged && edited.version !== version) setEdited({ version, base: stored, settings: settingsOf(stored) });
  }, [isChanged, edited.version, version, stored]);
  const save = useMutation({ mutationFn: () => store(withSettings(base, settings)) });
  const refusal = save.error instanceof SvcError && save.error.status === 422 ? save.error.message : undefined;
  const refused = refusal === undefined ? undefined : fieldOf(refusal);
  const faults = { ...(isChecked ? faultsOf(settings) : {}), ...(refused === undefined ? {} : { [refused]: refusal }) };
  const isStale = save.error instanceof SvcError && save.error.status === 412;
  const set = (change: Partial<Settings>): void => {
    save.reset();
    setEdited({ ...edited, settings: { ...settings, ...change } });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setIsChecked(true);
    if (Object.keys(faultsOf(settings)).length > 0) return;
    save.mutate(undefined, {
      onSuccess: () => {
        setIsChecked(false);
        const base = withSettings(edited.base, settings);
        setEdited({ version: undefined, base, settings: settingsOf(base) });
      },
    });
  };
  const text = (
    name: 'endpoint' | 'timeout' | 'keepAlive' | 'maxMessagesInBatch' | 'topic',
    label: string,
    hint: string,
  ) => (
    <Field label={label} hint={hint} fault={faults[name]}>
      {(field) => (
        <input
          {...field}
          inputMode={name === 'endpoint' || name === 'topic' ? 'url' : 'numeric'}
          value={settings[name]}
          onChange={({ target }) => set({ [name]: target.value.trim() })}
        />
      )}
    </Field>
  );
  return (
    <form className="stack" onSubmit={submit} noValidate>
      {text('endpoint', 'Endpoint', '*** in its query keeps the stored value, on the same host')}
      {text('topic', 'Topic', 'The canonical URL of the topic whose events are delivered')}
      <div className={css.pair}>
        {text('timeout', 'Timeout, seconds', '30, when empty')}
        {text('maxMessagesInBatch', 'Events of a notification', '20 at most, when empty')}
      </div>
      <div className={css.pair}>
        {text('keepAlive', 'Keep connections, seconds', '120, when empty; -1 never')}
        <Field label="Content">
          {(field) => (
            <select
              {...field}
              value={settings.content}
              onChange={({ target }) =>
                set({ content: CONTENTS.find((one) => one === target.value) ?? 'full-resource' })
              }
            >
              {CONTENTS.map((content) => (
                <option key={content}>{content}</option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <HeaderFields headers={settings.headers} fault={faults.headers} onChange={(headers) => set({ headers })} />
      <label className="check">
        <input
          type="checkbox"
          checked={settings.includeEntryAction}
          onChange={({ target }) => set({ includeEntryAction: target.checked })}
        />
        Name the action of each event
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={settings.includeVersionIdInFocusReference}
          onChange={({ target }) => set({ includeVersionIdInFocusReference: target.checked })}
        />
        Refer to the version of the resource
      </label>
      <div className="row">
        <button type="submit" className="button primary" disabled={save.isPending || !isChanged}>
          {save.isPending ? 'Storing…' : 'Store'}
        </button>
        {isChanged && (
          <button
            type="button"
            className="button quiet"
            onClick={() => {
              save.reset();
              setEdited({ version, base: stored, settings: settingsOf(stored) });
            }}
          >
            Discard
          </button>
        )}
        <span role="status" className={css.said}>
          {save.isSuccess && !isChanged ? 'Stored. The next attempt starts at once with it.' : ''}
        </span>
      </div>
      {isStale && (
        <div className="fault" role="alert">
          <p className="fault-title">Somebody else changed this destination meanwhile</p>
          <p>Your changes are not stored. Read the present version, and change it again.</p>
          <div className="row">
            <button
              type="button"
              className="button"
              onClick={() => {
                save.reset();
                void queries
                  .refetchQueries({ queryKey: ['destination', stored.id, 'stored'] })
                  .then(() => setEdited({ version: undefined, base, settings: settingsOf(base) }));
              }}
            >
              Read it again
            </button>
          </div>
        </div>
      )}
      {save.error !== null && !isStale && refused === undefined && <Fault error={save.error} what="the settings" />}
    </form>
  );
}
