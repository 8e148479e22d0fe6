import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect, useRef } from 'react';
import { goTo, hashOf } from '../../app/routes';
import { useSession } from '../../app/session';
import { treeOf } from '../../parts/body/body';
import { scalarText } from '../../parts/body/datatypes';
import { Answer } from '../../parts/Answer';
import { Tabs } from '../../parts/Tabs';
import { Time } from '../../parts/Time';
import { Belonging } from './Belonging';
import { JsonView } from './JsonView';
import { References } from './References';
import { type Opened } from './resource';
import { Summary } from './Summary';
import { Versions } from './Versions';
import css from './patients.module.css';

interface Props {
  readonly patientId: string;
  readonly name: { readonly type: string; readonly id: string };
  readonly view: string;
}

const VIEWS = [
  { id: 'summary', label: 'Summary' },
  { id: 'json', label: 'JSON' },
  { id: 'history', label: 'History' },
  { id: 'references', label: 'References' },
];

/** Types of resources that have a record of signatures. */
const SIGNED = ['SDCDocument', 'SDCWorkflow'];

/** A resource: readable, as JSON, its versions, and references in both directions. */
export function ResourcePanel({ patientId, name: { type, id }, view }: Props): ReactElement {
  const { client, userId } = useSession();
  const resource = useQuery({
    queryKey: ['resource', userId, type, id],
    queryFn: async ({ signal }): Promise<Opened> => {
      // The resource is read as text, so that numbers keep their digits.
      const path = `/fhir/${encodeURIComponent(type)}/${encodeURIComponent(id)}`;
      const text = await (await client.request('GET', path, { signal })).text();
      return { type, id, text, tree: await treeOf(text, signal) };
    },
    // React Query's structural sharing compares plain JSON, not trees of maps.
    structuralSharing: false,
  });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, []);
  const selected = VIEWS.some((one) => one.id === view) ? view : 'summary';
  return (
    <section className={`panel ${css.resource}`} aria-labelledby="resource-title">
      <header className="panel-header">
        <h2 id="resource-title" ref={heading} tabIndex={-1}>
          {type} <code>{id}</code>
        </h2>
        <a className="button quiet small" href={hashOf('patients', [patientId])}>
          Close
        </a>
      </header>
      {resource.data !== undefined && (
        <div className={`${css.resourceFacts} fine`}>
          <Meta opened={resource.data} />
          <Belonging patientId={patientId} type={type} id={id} />
          {SIGNED.includes(type) && <a href={hashOf('documents', [type, id])}>What it said at each signature</a>}
        </div>
      )}
      <Tabs
        label="Views of the resource"
        tabs={VIEWS}
        selected={selected}
        onSelect={(next) => goTo(hashOf('patients', [patientId, type, id], { view: next }), true)}
      >
        {selected === 'history' ? (
          <Versions type={type} id={id} />
        ) : (
          <Answer of={resource} what={`${type}/${id}`}>
            {(opened) =>
              selected === 'json' ? (
                <JsonView text={opened.text} label={`JSON of ${type}/${id}`} />
              ) : selected === 'references' ? (
                <References patientId={patientId} opened={opened} />
              ) : (
                <Summary patientId={patientId} opened={opened} />
              )
            }
          </Answer>
        )}
      </Tabs>
    </section>
  );
}

function Meta({ opened: { tree } }: { readonly opened: Opened }): ReactElement {
  const meta = tree instanceof Map ? tree.get('meta') : undefined;
  const [version, updated] = ['versionId', 'lastUpdated'].map((key) =>
    meta instanceof Map ? scalarText(meta.get(key)) : undefined,
  );
  return (
    <span>
      Version {version ?? '?'}
      {updated !== undefined && (
        <>
          , stored <Time value={updated} />
        </>
      )}
    </span>
  );
}
