/** Which topics are active while writes are measured. */
export interface CaptureScene {
  readonly name: string;
  /** The topics that are active; all of them are on the type that is written. */
  readonly topicIds: readonly string[];
  /** Events that one written resource makes. */
  readonly eventsPerResource: number;
}

/** A topic of the bench, with one destination of its own. */
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

/** What the others are compared with. */
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
