import { type ReactElement, useEffect, useSyncExternalStore } from 'react';
import { hashOf } from '../../app/routes';
import { useSession } from '../../app/session';
import { Copy } from '../../parts/Copy';
import { Fault } from '../../parts/Fault';
import { PageHeader } from '../../parts/PageHeader';
import { useMedia } from '../../parts/Table';
import { useResource } from '../../parts/use-resource';
import { patientLineOf } from './patient-line';
import { ResourcePanel } from './ResourcePanel';
import { TimelinePanel } from './TimelinePanel';
import { readerOf } from './timeline-reader';
import css from './patients.module.css';

interface Props {
  readonly patientId: string;
  readonly opened: { readonly type: string; readonly id: string } | undefined;
  readonly view: string;
}

/** A patient's timeline next to the opened resource, which replaces the timeline on a narrow screen. */
export function PatientRecord({ patientId, opened, view }: Props): ReactElement {
  const { client, userId } = useSession();
  const reader = readerOf(userId, patientId);
  const timeline = useSyncExternalStore(reader.subscribe, reader.current);
  useEffect(() => {
    const { state, version } = reader.current();
    // A new sign-in creates a new client, so failed reads are repeated.
    if (version === 0 || state === 'failed') reader.start(client);
  }, [reader, client]);
  const isNarrow = useMedia('(max-width: 1099px)');
  return (
    <div className={css.patients}>
      <Head patientId={patientId} />
      <div className={opened === undefined ? css.record : `${css.record} ${css.opened}`}>
        {(opened === undefined || !isNarrow) && (
          <TimelinePanel
            patientId={patientId}
            view={timeline}
            opened={opened}
            onStop={() => reader.stop()}
            onRead={() => reader.start(client)}
            onChoose={(types) => reader.choose(types)}
          />
        )}
        {opened !== undefined && (
          <ResourcePanel key={`${opened.type}/${opened.id}`} patientId={patientId} name={opened} view={view} />
        )}
      </div>
    </div>
  );
}

function Head({ patientId }: { readonly patientId: string }): ReactElement {
  const patient = useResource('Patient', patientId);
  const back = (
    <a className="button" href={hashOf('patients')}>
      ← All patients
    </a>
  );
  if (patient.isError)
    return (
      <>
        <PageHeader title={`Patient ${patientId}`} actions={back} />
        <Fault error={patient.error} what="this patient" onRetry={() => void patient.refetch()} />
      </>
    );
  const line = patient.data === undefined ? undefined : patientLineOf(patient.data);
  const facts = [
    line?.birthDate === '' ? '' : `born ${line?.birthDate ?? ''}`,
    line?.gender,
    ...(line?.identifiers ?? []),
  ];
  return (
    <PageHeader title={line?.name ?? `Patient ${patientId}`} actions={back}>
      <span className="row">
        {line === undefined ? 'Reading…' : facts.filter((fact) => fact !== undefined && fact !== '').join(' · ')}
        <code>Patient/{patientId}</code>
        <Copy text={`Patient/${patientId}`} label="Copy id" />
        <a href={hashOf('access', [], { request: `GET /fhir/Patient/${patientId}` })}>Who may read it?</a>
      </span>
    </PageHeader>
  );
}
