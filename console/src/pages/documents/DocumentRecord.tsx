import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect, useMemo, useState } from 'react';
import { goTo, hashOf } from '../../app/routes';
import { useSession } from '../../app/session';
import { Empty } from '../../parts/Empty';
import { Fault } from '../../parts/Fault';
import { type FieldRow } from '../../parts/body/body';
import { type NameOf, personIn, referenceText, useNames } from '../../parts/names';
import { PageHeader } from '../../parts/PageHeader';
import { Waiting } from '../../parts/Waiting';
import { Addenda } from './Addenda';
import { ChainState } from './ChainState';
import { PrintedRecord } from './PrintedRecord';
import { beforeSignature, peopleIn, type RecordAnswer, stopsOf, wordsOf } from './record';
import { Revisions } from './Revisions';
import { Status } from './Status';
import css from './documents.module.css';

interface Props {
  readonly target: { readonly resourceType: 'SDCDocument' | 'SDCWorkflow'; readonly id: string };
  /** The position of the slider, from 1; by default the last. */
  readonly position: string | undefined;
}

export function DocumentRecord({ target, position }: Props): ReactElement {
  const { client, userId } = useSession();
  const { resourceType, id } = target;
  const path = `/fhir/${resourceType}/${encodeURIComponent(id)}/$amendments`;
  const record = useQuery({
    queryKey: ['record', userId, resourceType, id],
    queryFn: async ({ signal }) => {
      const answer = await client.request('GET', path, { query: { _format: 'json' }, signal });
      return (await answer.json()) as RecordAnswer;
    },
    structuralSharing: false, // a record of megabytes must not be compared leaf by leaf
  });
  const download = useMutation({
    mutationFn: async () => {
      const answer = await client.request('GET', path, { headers: { Accept: 'text/html' } });
      save(new Blob([await answer.text()], { type: 'text/html' }), `${resourceType}-${id}.html`);
    },
  });
  const [isPrinting, setIsPrinting] = useState(false);
  useEffect(() => {
    if (!isPrinting) return;
    const end = (): void => setIsPrinting(false);
    window.addEventListener('afterprint', end);
    // Renders the printed record before the browser's print dialog opens.
    const frame = requestAnimationFrame(() => window.print());
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener('afterprint', end);
    };
  }, [isPrinting]);
  const people = useMemo(() => (record.data === undefined ? [] : peopleIn(record.data)), [record.data]);
  const nameOf = useNames(people);
  const [stops, before] = useMemo(
    () => (record.data === undefined ? [[], []] : [stopsOf(record.data), beforeSignature(record.data)]),
    [record.data],
  );

  const back = (
    <a className="button" href={hashOf('documents')}>
      ← All documents
    </a>
  );
  if (record.isPending)
    return (
      <>
        <PageHeader title={id} actions={back} />
        <Waiting what="the record" />
      </>
    );
  if (record.isError)
    return (
      <>
        <PageHeader title={id} actions={back} />
        <Fault error={record.error} what="this record" onRetry={() => void record.refetch()} />
      </>
    );
  const { stored, chain, isDeleted } = record.data;
  const selected = Math.max(1, Math.min(stops.length, Number(position ?? stops.length) || stops.length));
  const facts = stored?.facts.filter(({ path: [first] }) => first !== 'type' && first !== 'title') ?? [];
  const type = textOfFact(stored?.facts, 'type');
  const patient = stored?.facts.map(({ new: value }) => personIn(value?.text ?? '')).find(isPatient);
  const named = textOfFact(stored?.facts, 'title') ?? (type === undefined ? id : wordsOf(type));
  const title = patient === undefined ? named : `${named} of ${nameOf(patient)}`;
  const select = (stop: number): void =>
    goTo(hashOf('documents', [resourceType, id], { revision: String(stop) }), true);
  return (
    <div className={css.documents}>
      <PageHeader
        title={title}
        actions={
          <>
            {back}
            <button type="button" className="button" onClick={() => setIsPrinting(true)}>
              Print
            </button>
            <button type="button" className="button" disabled={download.isPending} onClick={() => download.mutate()}>
              Save as page
            </button>
          </>
        }
      >
        <span className="row">
          <code>
            {resourceType}/{id}
          </code>
          {type !== undefined && <code>{type}</code>}
          {stored?.status !== undefined && <Status status={stored.status} />}
          {isDeleted === true && <span>The document was deleted; its record stays.</span>}
          {isDeleted === false && <span>No version of the document is stored on this server.</span>}
        </span>
      </PageHeader>
      {facts.length > 0 && (
        <dl className={css.facts}>
          {facts.map(({ path: steps, label, new: value }) => (
            <div key={steps.join('.')}>
              <dt>{label.join(' › ')}</dt>
              <dd>{value !== undefined && <Fact text={value.text} nameOf={nameOf} />}</dd>
            </div>
          ))}
        </dl>
      )}
      {download.isError && <Fault error={download.error} what="the page" />}
      <ChainState target={target} chain={chain} record={record.data} onShow={select} />
      {stops.length === 0 ? (
        <>
          <Empty title="Nobody has signed it yet">
            The first signature keeps what it says: call svc.sdc/sign. Until then comments are all that is on record.
          </Empty>
          {before.length > 0 && <Addenda title="Before the first signature" addenda={before} nameOf={nameOf} />}
        </>
      ) : (
        <Revisions
          target={target}
          stops={stops}
          before={before}
          selected={selected}
          onSelect={select}
          nameOf={nameOf}
        />
      )}
      {isPrinting && <PrintedRecord title={title} record={record.data} nameOf={nameOf} />}
    </div>
  );
}

const textOfFact = (facts: readonly FieldRow[] = [], name: string): string | undefined =>
  facts.find(({ path: [first] }) => first === name)?.new?.text;

const isPatient = (person: ReturnType<typeof personIn>): boolean => person?.resourceType === 'Patient';

/**
 * Shows a text. If the text is a reference to a person whose name may be read, the name is shown with it. A patient is
 * shown as a link to the patient's record.
 */
function Fact({ text, nameOf }: { readonly text: string; readonly nameOf: NameOf }): ReactElement {
  const shown = referenceText(text, nameOf);
  const person = personIn(text);
  return person?.resourceType === 'Patient' ? <a href={hashOf('patients', [person.id])}>{shown}</a> : <>{shown}</>;
}

/**
 * Saves a file instead of opening it here. A saved file has only its own content security policy, and the token need
 * not be in a URL.
 */
function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
