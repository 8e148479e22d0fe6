import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactElement, useState } from 'react';
import { SvcError, type Topic } from 'svc-health-client';
import { useClient } from '../../app/session';
import { goTo, hashOf } from '../../app/routes';
import { Answer } from '../../parts/Answer';
import { Badge } from '../../parts/Badge';
import { Empty } from '../../parts/Empty';
import { Fault } from '../../parts/Fault';
import { SelectField, TextField } from '../../parts/Field';
import { type Column, Table } from '../../parts/Table';
import { useKept } from '../../parts/use-kept';
import { DryRunPanel } from './DryRunPanel';
import { draftOf, NEW_TOPIC, type TopicDraft, topicOf } from './topic-draft';
import { TriggerFields } from './TriggerFields';
import { useTopics } from './use-topics';
import css from './destinations.module.css';

const STATUSES = ['draft', 'active', 'retired'] as const;
const NEW = 'new';

/** The list of topics, and a form for the selected topic with its dry run. */
export function TopicEditor({ selected }: { readonly selected: string | undefined }): ReactElement {
  return (
    <Answer of={useTopics()} what="the topics">
      {(topics) => (
        <div className={css.topics}>
          <Selected topics={topics} selected={selected} />
        </div>
      )}
    </Answer>
  );
}

const addressOf = (topic: string): string => hashOf('destinations', [], { tab: 'topics', topic });

interface SelectedProps {
  readonly topics: readonly Topic[];
  readonly selected: string | undefined;
}

function Selected({ topics, selected }: SelectedProps): ReactElement {
  const found = topics.find(({ id }) => id === selected);
  if (selected === NEW || found !== undefined)
    return (
      <>
        <h2>{found === undefined ? 'New topic' : <code>{found.id}</code>}</h2>
        <TopicForm key={selected} stored={found} onStored={(id) => goTo(addressOf(id), true)} />
      </>
    );
  return (
    <>
      {selected !== undefined && <p role="status">There is no topic {selected}.</p>}
      {topics.length === 0 ? (
        <Empty title="No topic is stored yet" command="npm run demo -- --keep">
          A topic says which writes are events. The demo stores one; or begin with a new one.
        </Empty>
      ) : (
        <Table
          label="Topics"
          rows={topics}
          columns={COLUMNS}
          keyOf={({ id = '' }) => id}
          onOpen={({ id = '' }) => goTo(addressOf(id))}
          isWrapped
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Topic>[] = [
  {
    key: 'id',
    label: 'Topic',
    width: 'minmax(140px, 2fr)',
    render: ({ id = '' }) => (
      <a href={addressOf(id)} tabIndex={-1} onClick={(event) => event.stopPropagation()}>
        {id}
      </a>
    ),
  },
  { key: 'url', label: 'URL', width: 'minmax(180px, 3fr)', isWide: true, render: ({ url }) => url },
  {
    key: 'fires',
    label: 'Fires for',
    width: 'minmax(120px, 2fr)',
    render: ({ trigger = [] }) => [...new Set(trigger.map(({ resource }) => resource))].join(', '),
  },
  {
    key: 'status',
    label: 'Status',
    width: '84px',
    render: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'neutral'}>{status}</Badge>,
  },
];

interface Edited {
  readonly id: string;
  readonly draft: TopicDraft;
}

interface FormProps {
  readonly stored: Topic | undefined;
  readonly onStored: (id: string) => void;
}

function TopicForm({ stored, onStored }: FormProps): ReactElement {
  const client = useClient();
  const queries = useQueryClient();
  const [base, setBase] = useState(stored);
  // The edited topic, which is kept while another page is open; null if nothing is changed.
  const [edited, setEdited] = useKept<Edited | null>(`topic ${stored?.id ?? NEW}`, null);
  const { draft, id } = edited ?? { draft: base === undefined ? NEW_TOPIC : draftOf(base), id: '' };
  const isChanged = base === undefined || JSON.stringify(draft) !== JSON.stringify(draftOf(base));
  const save = useMutation({
    mutationFn: async () => {
      const body = topicOf(draft, base);
      const name = base?.id ?? id;
      const version = base?.meta?.versionId;
      const response = await client.request('PUT', `/fhir/SvcSubscriptionTopic/${encodeURIComponent(name)}`, {
        body: { ...body, id: name },
        headers: version === undefined ? { 'If-None-Match': '*' } : { 'If-Match': `W/"${version}"` },
      });
      return (await response.json()) as Topic;
    },
    onSuccess: async (topic) => {
      setBase(topic);
      setEdited(null);
      await queries.invalidateQueries({ queryKey: ['topics'] });
      if (topic.id !== undefined && topic.id !== stored?.id) onStored(topic.id);
    },
  });
  const set = (change: Partial<TopicDraft>): void => {
    save.reset();
    setEdited({ id, draft: { ...draft, ...change } });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  const isStale = save.error instanceof SvcError && save.error.status === 412;
  return (
    <div className={`${css.columns} ${css.even}`}>
      <form className="stack" onSubmit={submit}>
        {base === undefined && (
          <TextField
            label="Id"
            hint="Letters, digits, hyphens and dots"
            required
            pattern="[A-Za-z0-9.\-]{1,64}"
            value={id}
            onChange={(id) => setEdited({ draft, id })}
          />
        )}
        <TextField
          label="URL"
          hint="Destinations name the topic by it"
          required
          value={draft.url}
          onChange={(typed) => set({ url: typed.trim() })}
        />
        <SelectField
          label="Status"
          hint="Only an active topic fires"
          value={draft.status}
          options={[...new Set([...STATUSES, draft.status])]}
          onChange={(status) => set({ status })}
        />
        <TriggerFields triggers={draft.triggers} onChange={(triggers) => set({ triggers })} />
        <div className="row">
          <button type="submit" className="button primary" disabled={save.isPending || !isChanged}>
            Store the topic
          </button>
          {base !== undefined && edited !== null && (
            <button type="button" className="button quiet" onClick={() => setEdited(null)}>
              Discard
            </button>
          )}
          {base !== undefined && isChanged && <Badge tone="accent">Not stored yet</Badge>}
          <span role="status" className={css.said}>
            {save.isSuccess && !isChanged ? 'Stored: it counts for each write from now on.' : ''}
          </span>
        </div>
        {isStale ? (
          <div className="fault" role="alert">
            <p className="fault-title">
              {base === undefined ? 'There is a topic with this id' : 'Somebody else changed this topic meanwhile'}
            </p>
            <p>Nothing was stored. Open the topic again, and change its present version.</p>
          </div>
        ) : (
          save.error !== null && <Fault error={save.error} what="the topic" />
        )}
      </form>
      <DryRunPanel draft={draft} stored={base} />
    </div>
  );
}
