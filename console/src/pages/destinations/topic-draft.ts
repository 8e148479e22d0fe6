import { type Topic } from 'svc-health-client';

export const INTERACTIONS = ['create', 'update', 'delete'] as const;

export interface TriggerDraft {
  readonly resource: string;
  /** The interactions that cause events; empty for all three (create, update, delete). */
  readonly interactions: readonly string[];
  readonly criteria: string;
}

/** A topic while it is edited. */
export interface TopicDraft {
  readonly url: string;
  readonly status: string;
  readonly triggers: readonly TriggerDraft[];
}

export const NEW_TOPIC: TopicDraft = {
  url: 'https://clinic.example/topics/final-observations',
  status: 'draft',
  triggers: [{ resource: 'Observation', interactions: [], criteria: "status = 'final'" }],
};

export const draftOf = ({ url = '', status = 'draft', trigger = [] }: Topic): TopicDraft => ({
  url,
  status,
  triggers: trigger.map(({ resource, supportedInteraction = [], fhirPathCriteria }) => ({
    resource,
    interactions: supportedInteraction,
    criteria: typeof fhirPathCriteria === 'string' ? fhirPathCriteria : '',
  })),
});

/** The topic with the edits; all other members stay. */
export function topicOf({ url, status, triggers }: TopicDraft, stored?: Topic): Topic {
  const { trigger: before = [] } = stored ?? {};
  return {
    ...stored,
    resourceType: 'SvcSubscriptionTopic',
    url,
    status,
    trigger: triggers.map(({ resource, interactions, criteria }, index) => {
      const { supportedInteraction: _interactions, fhirPathCriteria: _criteria, ...rest } = before[index] ?? {};
      return {
        ...rest,
        resource,
        ...(interactions.length === 0 ? {} : { supportedInteraction: [...interactions] }),
        ...(criteria.trim() === '' ? {} : { fhirPathCriteria: criteria }),
      };
    }),
  } as Topic;
}

/** Whether a dry run makes sense: incomplete topics are not sent. */
export const canRun = ({ url, triggers }: TopicDraft): boolean =>
  url !== '' && triggers.length > 0 && triggers.every(({ resource }) => /^[A-Z]\w*$|^https?:\/\/\S+$/.test(resource));
