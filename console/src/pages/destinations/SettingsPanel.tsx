import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactElement, useState } from 'react';
import { type Schemas, SvcError } from 'svc-health-client';
import { Answer } from '../../parts/Answer';
import { Badge } from '../../parts/Badge';
import { Fault } from '../../parts/Fault';
import { Json } from '../../parts/Json';
import { DeletePanel } from './DeletePanel';
import { SecretPanel } from './SecretPanel';
import { SettingsFields } from './SettingsFields';
import { faultsOf, fieldOf, type Settings, settingsOf, WEBHOOK, withSettings } from './settings';
import { useStored } from './use-stored';
import { useStoreDestination } from './use-store-destination';
import css from './destinations.module.css';

type Destination = Schemas['SvcTopicDestination'];

/** Settings that are edited and not stored, and the version that they begin with. */
export interface Edited {
  readonly base: Destination;
  readonly settings: Settings;
}

interface Props {
  readonly id: string;
  /** Null if nothing is changed. */
  readonly edited: Edited | null;
  readonly onEdit: (edited: Edited | null) => void;
  /** Whether the form was opened to correct the endpoint, which then has the focus. */
  readonly isCorrecting: boolean;
}

/** Edits a webhook. It is stored only if the server still has the version that was read. */
export function SettingsPanel({ id, ...editing }: Props): ReactElement {
  return (
    <Answer of={useStored(id)} what="the settings">
      {(stored) =>
        stored === null ? (
          <p>The settings are not shown to you: no policy grants the search.</p>
        ) : (
          <div className={css.columns}>
            {stored.kind === WEBHOOK ? (
              <SettingsForm stored={stored} {...editing} />
            ) : (
              <div className="stack">
                <p>
                  The kind <code>{stored.kind}</code> has other settings: change them by the API.
                </p>
                <Json value={stored} label="The stored destination" />
              </div>
            )}
            <div className="stack">
              {stored.kind === WEBHOOK && <SecretPanel stored={stored} />}
              <DeletePanel id={id} />
            </div>
          </div>
        )
      }
    </Answer>
  );
}

function SettingsForm({
  stored,
  edited,
  onEdit,
  isCorrecting,
}: Omit<Props, 'id'> & { readonly stored: Destination }): ReactElement {
  const queries = useQueryClient();
  const store = useStoreDestination();
  // Others may store a version meanwhile. The condition of the PUT then refuses the edited settings.
  const { base, settings } = edited ?? { base: stored, settings: settingsOf(stored) };
  const [isChecked, setIsChecked] = useState(false);
  const save = useMutation({
    mutationFn: () => store(withSettings(base, settings)),
    onSuccess: () => {
      setIsChecked(false);
      onEdit(null);
    },
  });
  const refusal = save.error instanceof SvcError && save.error.status === 422 ? save.error.message : undefined;
  const refused = refusal === undefined ? undefined : fieldOf(refusal);
  const faults = { ...(isChecked ? faultsOf(settings) : {}), ...(refused === undefined ? {} : { [refused]: refusal }) };
  const isStale = save.error instanceof SvcError && save.error.status === 412;
  const set = (change: Partial<Settings>): void => {
    save.reset();
    const next = { ...settings, ...change };
    onEdit(JSON.stringify(next) === JSON.stringify(settingsOf(base)) ? null : { base, settings: next });
  };
  const drop = (): void => {
    save.reset();
    onEdit(null);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setIsChecked(true);
    if (edited !== null && Object.keys(faultsOf(settings)).length === 0) save.mutate();
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <SettingsFields settings={settings} faults={faults} onChange={set} isCorrecting={isCorrecting} />
      <div className="row">
        <button type="submit" className="button primary" disabled={save.isPending}>
          {save.isPending ? 'Storing…' : 'Store'}
        </button>
        {edited !== null && (
          <>
            <button type="button" className="button quiet" onClick={drop}>
              Discard
            </button>
            <Badge tone="accent">Not stored yet</Badge>
          </>
        )}
        <span role="status" className={css.said}>
          {edited !== null
            ? ''
            : save.isSuccess
              ? 'Stored. The next attempt starts at once with it.'
              : isChecked
                ? 'Nothing is changed.'
                : ''}
        </span>
      </div>
      {isStale && (
        <div className="fault" role="alert">
          <p className="fault-title">Somebody else changed this webhook meanwhile</p>
          <p>Your changes are not stored. Read the present version, and change it again.</p>
          <div className="row">
            <button
              type="button"
              className="button"
              onClick={() => {
                void queries.refetchQueries({ queryKey: ['destination', stored.id, 'stored'] }).then(drop);
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
