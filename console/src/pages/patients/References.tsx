import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useMemo } from 'react';
import { useSession } from '../../app/session';
import { capabilitiesOf } from '../../parts/capabilities';
import { referencesOf } from '../../parts/body/references';
import { Answer } from '../../parts/Answer';
import { whole } from '../../parts/numbers';
import { incomingOf, MAX_INCOMING } from './incoming';
import { type Opened } from './resource';
import { ResourceLink } from './ResourceLink';
import css from './patients.module.css';

interface Props {
  readonly patientId: string;
  readonly opened: Opened;
}

/** The maximum number of listed references, more than anyone reads. */
const MAX_OUTGOING = 200;

export const References = ({ patientId, opened }: Props): ReactElement => (
  <div className="stack">
    <Outgoing patientId={patientId} opened={opened} />
    {opened.type === 'Patient' && opened.id === patientId ? (
      <section aria-labelledby="incoming-title">
        <h3 id="incoming-title">What refers to it</h3>
        <p className="fine">The timeline shows all that belongs to this patient.</p>
      </section>
    ) : (
      <Incoming patientId={patientId} opened={opened} />
    )}
  </div>
);

function Outgoing({ patientId, opened }: Props): ReactElement {
  const references = useMemo(() => referencesOf(opened.tree), [opened.tree]);
  return (
    <section aria-labelledby="outgoing-title">
      <h3 id="outgoing-title">What it refers to</h3>
      {references.length === 0 && <p className="fine">It has no references.</p>}
      <ul className={css.references}>
        {references.slice(0, MAX_OUTGOING).map(({ path, reference, display, target }) => (
          <li key={`${path} ${reference}`}>
            <code className={css.path}>{path}</code>
            <span>
              {target === undefined ? (
                reference
              ) : (
                <ResourceLink patientId={patientId} name={target} text={display ?? reference} />
              )}
              {display !== undefined && <span className={css.note}>{reference}</span>}
            </span>
          </li>
        ))}
      </ul>
      {references.length > MAX_OUTGOING && (
        <p className="fine">And {whole(references.length - MAX_OUTGOING)} more in the JSON.</p>
      )}
    </section>
  );
}

function Incoming({ patientId, opened: { type, id } }: Props): ReactElement {
  const { client, userId } = useSession();
  const queries = useQueryClient();
  const incoming = useQuery({
    queryKey: ['incoming', userId, type, id],
    queryFn: async ({ signal }) =>
      incomingOf(client, await queries.ensureQueryData(capabilitiesOf(client)), type, id, signal),
    staleTime: 30_000,
  });
  return (
    <section aria-labelledby="incoming-title">
      <h3 id="incoming-title">What refers to it</h3>
      <Answer of={incoming} what="what refers to it">
        {({ total, remarks, found }) => (
          <>
            <p className="fine" role="status">
              {total === 0
                ? 'Nothing that you may see refers to it by a search parameter.'
                : `${whole(total)} ${total === 1 ? 'resource' : 'resources'}, found by the references that are search parameters`}
              {total > MAX_INCOMING && `; the first ${MAX_INCOMING}:`}
            </p>
            {remarks.map((remark) => (
              <p key={remark} className="banner">
                {remark}
              </p>
            ))}
            <ul className={css.references}>
              {found.map((one) => (
                <li key={`${one.type}/${one.id}`}>
                  <code className={css.path}>{one.paths.join(', ')}</code>
                  <span>
                    <ResourceLink patientId={patientId} name={one} />
                    {one.label !== '' && <span className={css.note}>{one.label}</span>}
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </Answer>
    </section>
  );
}
