import { useQuery } from '@tanstack/react-query';
import { type ReactElement } from 'react';
import { type DestinationEvent, type EventRequest, type ResourceType } from 'svc-health-client';
import { hashOf } from '../../app/routes';
import { useClient, useSession } from '../../app/session';
import { Answer } from '../../parts/Answer';
import { Copy } from '../../parts/Copy';
import { Fact } from '../../parts/Fact';
import { bytes, duration } from '../../parts/numbers';
import { firstPage, type Row } from '../../parts/search-pages';
import { Time } from '../../parts/Time';
import { ageOf } from '../../parts/times';
import { stepsOf } from './steps';
import css from './destinations.module.css';

interface Props {
  readonly destinationId: string;
  readonly event: DestinationEvent;
}

/** The steps of an event, and the request that delivers it. */
export function EventSteps({ destinationId, event }: Props): ReactElement {
  const { correlationId, undecided, number, focus } = event;
  return (
    <div className={css.eventBody}>
      {focus !== undefined && <RecordLink focus={focus} />}
      <ol className={css.steps} aria-label="From commit to delivery">
        {stepsOf(event).map(({ kind, name, tone, at, outcome, durationMilliseconds, after }, index) => (
          <li key={`${kind} ${index}`} className={`${css.step} ${css[tone] ?? ''}`}>
            <span>
              {name}
              {outcome !== undefined && <strong className={css.stepOutcome}>{outcome}</strong>}
            </span>
            <span className={`faint ${css.stepTime}`}>
              {at !== undefined && <Time value={at} />}
              {durationMilliseconds !== undefined && <span>took {duration(durationMilliseconds / 1000)}</span>}
              {after !== undefined && after > 0 && <span>+{after < 2000 ? `${after} ms` : ageOf(after)}</span>}
            </span>
          </li>
        ))}
      </ol>
      {undecided === true && (
        <p className="fine">The criterion of the topic could not be evaluated here, so the event is sent in case.</p>
      )}
      {correlationId !== undefined && (
        <p className="fine">
          Correlation <code>{correlationId}</code> <Copy text={correlationId} label="Copy" />
        </p>
      )}
      {number === undefined ? (
        <p className="fine">No notification has taken it yet: it follows when those before it are delivered.</p>
      ) : (
        <SentRequest destinationId={destinationId} number={number} />
      )}
    </div>
  );
}

/** Members that name the patient of most types. */
const PATIENT_MEMBERS = ['subject', 'patient', 'beneficiary', 'for', 'individual'];

/**
 * A link to the written resource in the record of its patient. It is absent if the resource names no patient that the
 * User may read.
 */
function RecordLink({ focus }: { readonly focus: string }): ReactElement | null {
  const { client, userId } = useSession();
  const [type = '', id = ''] = focus.split('/');
  const patient = useQuery({
    queryKey: ['patient-of', userId, focus],
    enabled: type !== 'Patient',
    retry: false,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = { _id: id, _elements: PATIENT_MEMBERS.join(), _total: 'none' };
      const { resources } = await firstPage(client, type as ResourceType, query, signal);
      return resources.map(patientIn)[0] ?? null;
    },
  });
  const patientId = type === 'Patient' ? id : patient.data;
  if (typeof patientId !== 'string') return null;
  return (
    <p>
      <a href={hashOf('patients', type === 'Patient' ? [id] : [patientId, type, id])}>
        Open {focus} in the record of {type === 'Patient' ? 'the patient' : 'its patient'}
      </a>
    </p>
  );
}

/** The patient that a resource names, by a FHIR reference or by a native reference. */
function patientIn(resource: Row): string | undefined {
  for (const member of PATIENT_MEMBERS) {
    const { reference, resourceType, id } = (resource[member] ?? {}) as Row;
    const named = typeof reference === 'string' ? reference : `${String(resourceType)}/${String(id)}`;
    const [, patientId] = /^Patient\/([A-Za-z0-9.-]{1,64})$/.exec(named) ?? [];
    if (patientId !== undefined) return patientId;
  }
  return undefined;
}

function SentRequest({
  destinationId,
  number,
}: {
  readonly destinationId: string;
  readonly number: number;
}): ReactElement {
  const client = useClient();
  const request = useQuery({
    queryKey: ['request', destinationId, number],
    queryFn: () => client.destinations.request(destinationId, number),
    staleTime: 60_000,
  });
  return (
    <Answer of={request} what="the request">
      {(sent) => <RequestText request={sent} />}
    </Answer>
  );
}

function RequestText({ request }: { readonly request: EventRequest }): ReactElement {
  const { method, url, headers, bytes: size, from, to } = request;
  return (
    <section aria-label="The request" className={css.sentRequest}>
      <h2 className={css.smallTitle}>Request</h2>
      <p className={css.requestLine}>
        <code>
          {method} {url}
        </code>
      </p>
      <dl className={css.headers}>
        {headers.map(({ name, value }, index) => (
          <Fact key={`${name} ${index}`} name={name}>
            {value} {name === 'webhook-id' && <Copy text={value} label="Copy" />}
          </Fact>
        ))}
      </dl>
      <p className="fine">
        {bytes(size)} with {from === to ? `event ${from}` : `events ${from} to ${to}`}. Secrets are shown as ***. The
        body is not shown, since it may hold more than you may read: see the written resource.
      </p>
    </section>
  );
}
