import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactElement, useState } from 'react';
import { SvcError } from 'svc-health-client';
import { goTo, hashOf } from '../../app/routes';
import { Fault } from '../../parts/Fault';
import { Check, TextField } from '../../parts/Field';
import { PageHeader } from '../../parts/PageHeader';
import { useKept } from '../../parts/use-kept';
import { BackToList } from './BackToList';
import { NewSecret } from './NewSecret';
import { SettingsFields } from './SettingsFields';
import { type Faults, faultsOf, fieldOf, newDestination, newSecret, NO_SETTINGS, type Settings } from './settings';
import { useStoreDestination } from './use-store-destination';
import css from './destinations.module.css';

type Draft = Settings & { readonly id: string };
type DraftFaults = Faults & { readonly id?: string };

const NOTHING: Draft = { ...NO_SETTINGS, id: '' };

/** The form that stores a new webhook, which delivers from then on. */
export function NewDestination(): ReactElement {
  const store = useStoreDestination();
  const [draft, setDraft] = useKept<Draft>('new webhook', NOTHING);
  const [isSigned, setIsSigned] = useState(true);
  const [isChecked, setIsChecked] = useState(false);
  const [made, setMade] = useState('');
  const open = (id = made): void => goTo(hashOf('destinations', [id]), true);
  const save = useMutation({
    mutationFn: async () => {
      const secret = isSigned ? newSecret() : undefined;
      await store(newDestination(draft.id, draft, secret));
      setMade(draft.id);
      setDraft(NOTHING);
      if (secret === undefined) open(draft.id);
      return secret;
    },
  });
  const refused = refusalIn(save.error);
  const faults: DraftFaults = { ...(isChecked ? draftFaults(draft) : {}), ...refused };
  const change = (changed: Partial<Draft>): void => {
    save.reset();
    setDraft({ ...draft, ...changed });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setIsChecked(true);
    if (Object.keys(draftFaults(draft)).length === 0) save.mutate();
  };
  return (
    <>
      <PageHeader title="New webhook" actions={<BackToList />}>
        It gets the events of its topic from now on, one notification after the other, until each is taken.
      </PageHeader>
      <form className={`stack ${css.narrow}`} onSubmit={submit} noValidate>
        <TextField
          label="Id"
          hint="Letters, digits, hyphens and dots: its name in the console and the API"
          fault={faults.id}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          value={draft.id}
          onChange={(typed) => change({ id: typed.trim() })}
        />
        <SettingsFields settings={draft} faults={faults} onChange={change} />
        <Check isOn={isSigned} onSwitch={setIsSigned}>
          Sign each notification by a new secret, which is shown once
        </Check>
        <div className="row">
          <button type="submit" className="button primary" disabled={save.isPending}>
            {save.isPending ? 'Storing…' : 'Store the webhook'}
          </button>
        </div>
        {save.error !== null && Object.keys(refused).length === 0 && <Fault error={save.error} what="the webhook" />}
      </form>
      {save.data !== undefined && <NewSecret secret={save.data} onKept={() => open()} />}
    </>
  );
}

function draftFaults(draft: Draft): DraftFaults {
  const hasId = /^[A-Za-z0-9.-]{1,64}$/.test(draft.id);
  return { ...faultsOf(draft), ...(hasId ? {} : { id: '1 to 64 letters, digits, hyphens or dots.' }) };
}

/** The server's refusal as the fault of the field that it concerns; empty if it concerns no field. */
function refusalIn(error: unknown): DraftFaults {
  if (!(error instanceof SvcError)) return {};
  const { status, message } = error;
  if (status === 412) return { id: 'There is a webhook with this id. Choose another one.' };
  const field = status === 422 || status === 400 ? fieldOf(message) : undefined;
  return field === undefined ? {} : { [field]: message };
}
