import { type ReactElement } from 'react';
import { type PageProps } from '../../app/pages';
import { goTo, hashOf } from '../../app/routes';
import { PageHeader } from '../../parts/PageHeader';
import { Tabs } from '../../parts/Tabs';
import { DestinationDetail } from './DestinationDetail';
import { DestinationList } from './DestinationList';
import { TopicEditor } from './TopicEditor';

const TABS = [
  { id: 'webhooks', label: 'Webhooks' },
  { id: 'topics', label: 'Topics' },
];

/** Webhooks and their topics: what is stuck, why, and how to mend it. */
export default function DestinationsPage({ route }: PageProps): ReactElement {
  const [id] = route.steps;
  if (id !== undefined) return <DestinationDetail key={id} id={id} tab={route.query.get('tab') ?? 'events'} />;
  const tab = route.query.get('tab') === 'topics' ? 'topics' : 'webhooks';
  return (
    <>
      <PageHeader title="Destinations">Webhooks that get the events of a topic, and the topics themselves</PageHeader>
      <Tabs
        label="Webhooks and topics"
        tabs={TABS}
        selected={tab}
        onSelect={(to) => goTo(hashOf('destinations', [], to === 'topics' ? { tab: to } : {}), true)}
      >
        {tab === 'topics' ? <TopicEditor selected={route.query.get('topic') ?? undefined} /> : <DestinationList />}
      </Tabs>
    </>
  );
}
