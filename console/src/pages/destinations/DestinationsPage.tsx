import { type ReactElement } from 'react';
import { type PageProps } from '../../app/pages';
import { goTo, hashOf } from '../../app/routes';
import { PageHeader } from '../../parts/PageHeader';
import { Tabs } from '../../parts/Tabs';
import { DestinationDetail } from './DestinationDetail';
import { DestinationList } from './DestinationList';
import { NewDestination } from './NewDestination';
import { TopicEditor } from './TopicEditor';

const TABS = [
  { id: 'webhooks', label: 'Webhooks' },
  { id: 'topics', label: 'Topics' },
];

/** The page of webhooks and their topics. It shows which webhooks are blocked, why, and the remedy. */
export default function DestinationsPage({ route }: PageProps): ReactElement {
  const [id] = route.steps;
  if (id !== undefined) return <DestinationDetail key={id} id={id} tab={route.query.get('tab') ?? 'events'} />;
  const asked = route.query.get('tab');
  if (asked === 'new') return <NewDestination />;
  const topic = route.query.get('topic') ?? undefined;
  const tab = asked === 'topics' ? 'topics' : 'webhooks';
  return (
    <>
      <PageHeader
        title="Webhooks"
        actions={
          tab === 'webhooks' ? (
            <a className="button primary" href={hashOf('destinations', [], { tab: 'new' })}>
              New webhook
            </a>
          ) : topic === undefined ? (
            <a className="button primary" href={hashOf('destinations', [], { tab, topic: 'new' })}>
              New topic
            </a>
          ) : (
            <a className="button" href={hashOf('destinations', [], { tab })}>
              ← All topics
            </a>
          )
        }
      >
        Destinations (SvcTopicDestination) that get the events of a topic, and the topics themselves
      </PageHeader>
      <Tabs
        label="Webhooks and topics"
        tabs={TABS}
        selected={tab}
        onSelect={(to) => goTo(hashOf('destinations', [], to === 'topics' ? { tab: to } : {}), true)}
      >
        {tab === 'topics' ? <TopicEditor selected={topic} /> : <DestinationList state={route.query.get('state')} />}
      </Tabs>
    </>
  );
}
