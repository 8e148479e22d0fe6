/** The topics that are active while writes are measured. */
export interface CaptureScene {
  readonly name: string;
  /** The active topics; all of them are on the written type. */
  readonly topicIds: readonly string[];
  readonly eventsPerResource: number;
}

/** A topic of the bench, with its own destination. */
export interface CaptureTopic {
  readonly id: string;
  readonly fhirPathCriteria?: string;
}

const ALL: CaptureTopic = { id: 'capture-all' };
const CRITERION: CaptureTopic = {
  id: 'capture-criterion',
  fhirPathCriteria: "status = 'final' and (%previous.empty() or code.exists())",
};
const OTHERS: readonly CaptureTopic[] = Array.from({ length: 50 }, (_, index) => ({
  id: `capture-other-${index + 1}`,
  fhirPathCriteria: `code.coding.where(code = 'none-${index + 1}').exists()`,
}));

export const TOPICS: readonly CaptureTopic[] = [ALL, CRITERION, ...OTHERS];

/** The baseline of the other scenes. */
export const WITHOUT: CaptureScene = { name: 'none', topicIds: [], eventsPerResource: 0 };
export const ONE: CaptureScene = { name: 'one that matches', topicIds: [ALL.id], eventsPerResource: 1 };
export const ONE_WITH_CRITERION: CaptureScene = {
  name: 'one that matches by a criterion',
  topicIds: [CRITERION.id],
  eventsPerResource: 1,
};
export const FIFTY_OTHERS: CaptureScene = {
  name: '50 with criteria that do not match',
  topicIds: OTHERS.map(({ id }) => id),
  eventsPerResource: 0,
};
