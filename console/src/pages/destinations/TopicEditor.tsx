import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactElement, useState } from 'react';
import { SvcError, type Topic } from 'svc-health-client';
import { useClient } from '../../app/session';
import { goTo, hashOf } from '../../app/routes';
import { Badge } from '../../parts/Badge';
import { Empty } from '../../parts/Empty';
import { Fault } from '../../parts/Fault';
import { Field } from '../../parts/Field';
import { Waiting } from '../../parts/Waiting';
import { DryRunPanel } from './DryRunPanel';
import { draftOf, NEW_TOPIC, type TopicDraft, topicOf } from './topic-draft';
import { TriggerFields } from './TriggerFields';
import css from './destinations.module.css';

const STATUSES = ['draft', 'active', 'retired'] as const;
/** More are not listed here. */
const MOST_LISTED = 500;
const NEW = 'new';

/** Topics, and one of them with a dry run beside it. */
export function TopicEditor({ selected }: { readonly selected: string | undefined }): ReactElement {
  const client = useClient();
  const topics = useQuery({
    queryKey: ['topics'],
    queryFn: async () => {
      const found: Topic[] = [];
      for await (const topic of client.search('SvcSubscriptionTopic', { _count: 100 })) {
        found.push(topic);
        if (found.length === MOST_LISTED) break;
      }
      return found;
    },
  });
  if (topics.data === undefined) {
    if (topics.error === null) return <Waiting what="the topics" />;
    return <Fault error={topics.error} what="the topics" onRetry={() => void topics.refetch()} />;
  }
  const show = (id: string | undefined): void => goTo(hashOf('destinations', [], { tab: 'topics', topic: id }), true);
  const found = topics.data.find(({ id }) => id === selected) ?? (selected === NEW ? undefined : topics.data[0]);
  const isNew = selected === NEW;
  return (
    <div className={css.topics}>
      <div className="row">
        <select
          aria-label="Topic"
          value={isNew ? NEW : (found?.id ?? '')}
          onChange={({ target }) => show(target.value)}
          disabled={topics.data.length === 0 && !isNew}
        >
          {topics.data.map(({ id = '', url }) => (
            <option key={id} value={id}>
              {id} ({url})
            </option>
          ))}
          {isNew && <option value={NEW}>New topic</option>}
        </select>
        <button type="button" className="button" onClick={() => show(NEW)}>
          New topic
        </button>
      </div>
      {found === undefined && !isNew ? (
        <Empty title="No topic is stored yet" command="npm run demo -- --keep">
          A topic says which writes are events. The demo stores one; or begin with a new one.
        </Empty>
      ) : (
        <TopicForm
          key={isNew ? NEW : found?.id}
          stored={isNew ? undefined : found}
          onStored={(id) => {
            show(id);
          }}
        />
      )}
    </div>
  );
}

interface FormProps {
  readonly stored: Topic | undefined;
  readonly onStored: (id: string) => void;
}

function TopicForm({ stored, onStored }: FormProps): ReactElement {
  const client = useClient();
  const queries = useQueryClient();
  const [base, setBase] = useState(stored);
  const [draft, setDraft] = useState<TopicDraft>(() => (stored === undefined ? NEW_TOPIC : draftOf(stored)));
  const [id, setId] = useState('');
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
      setDraft(draftOf(topic));
      await queries.invalidateQueries({ queryKey: ['topics'] });
      if (topic.id !== undefined && topic.id !== stored?.id) onStored(topic.id);
    },
  });
  const set = (change: Partial<TopicDraft>): void => {
    save.reset();
    setDraft({ ...draft, ...change });
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
          <Field label="Id" hint="Letters, digits, hyphens and dots">
            {(field) => (
              <input
                {...field}
                required
                pattern="[A-Za-z0-9.\-]{1,64}"
                value={id}
                onChange={({ target }) => setId(target.value)}
              />
            )}
          </Field>
        )}
        <Field label="URL" hint="Destinations name the topic by it">
          {(field) => (
            <input {...field} required value={draft.url} onChange={({ target }) => set({ url: target.value.trim() })} />
          )}
        </Field>
        <Field label="Status" hint="Only an active topic fires">
          {(field) => (
            <select {...field} value={draft.status} onChange={({ target }) => set({ status: target.value })}>
              {[...new Set([...STATUSES, draft.status])].map((status) => (
                <option key={status}>{status}</option>
              ))}
            </select>
          )}
        </Field>
        <TriggerFields triggers={draft.triggers} onChange={(triggers) => set({ triggers })} />
        <div className="row">
          <button type="submit" className="button primary" disabled={save.isPending || !isChanged}>
            Store the topic
          </button>
          {base !== undefined && isChanged && <Badge tone="accent">Not stored</Badge>}
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
