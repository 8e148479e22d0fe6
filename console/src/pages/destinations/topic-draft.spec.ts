import { describe, expect, it } from '@jest/globals';
import { canRun, draftOf, NEW_TOPIC, topicOf } from './topic-draft';

const stored = {
  resourceType: 'SvcSubscriptionTopic',
  id: 't',
  url: 'https://clinic.example/topics/t',
  title: 'Kept',
  status: 'active',
  trigger: [
    { resource: 'Patient', description: 'Kept', supportedInteraction: ['create'], fhirPathCriteria: 'active' },
    { resource: 'Observation' },
  ],
} as unknown as Parameters<typeof draftOf>[0];

describe(topicOf.name, () => {
  it('returns an unedited topic unchanged, including members that the page does not edit', () => {
    expect(topicOf(draftOf(stored), stored)).toEqual(stored);
  });

  it('omits interactions and criteria that select everything', () => {
    const [first] = draftOf(stored).triggers;
    const trigger = { resource: 'Patient', interactions: [], criteria: ' ' };
    expect(first).toEqual({ resource: 'Patient', interactions: ['create'], criteria: 'active' });
    expect(topicOf({ ...NEW_TOPIC, triggers: [trigger] }).trigger).toEqual([{ resource: 'Patient' }]);
  });
});

describe(canRun.name, () => {
  it('is false until each trigger has a valid resource type', () => {
    const [trigger] = NEW_TOPIC.triggers;
    expect(trigger).toBeDefined();
    if (trigger === undefined) return;
    expect(canRun(NEW_TOPIC)).toBe(true);
    expect(canRun({ ...NEW_TOPIC, triggers: [{ ...trigger, resource: 'obs' }] })).toBe(false);
    expect(canRun({ ...NEW_TOPIC, triggers: [] })).toBe(false);
  });
});
