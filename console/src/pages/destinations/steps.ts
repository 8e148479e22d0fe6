import { type DestinationEvent } from 'svc-health-client';

/** A step in the delivery of an event. */
export interface Step {
  readonly kind: 'committed' | 'batched' | 'attempt' | 'left out' | 'delivered' | 'waits';
  readonly name: string;
  readonly tone: 'neutral' | 'good' | 'bad';
  readonly at?: string;
  /** The answer of the receiver. */
  readonly outcome?: string;
  readonly durationMilliseconds?: number;
  /** Milliseconds since the previous step. */
  readonly after?: number;
}

/** The steps of an event from its commit through each attempt to its delivery, in order of time. */
export function stepsOf(event: DestinationEvent): readonly Step[] {
  const { recorded, batched, delivered, attempt: shown, attempts, state } = event;
  const leftOut = attempts - shown.length;
  const firstNumber = leftOut + 1;
  const steps: Step[] = [
    { kind: 'committed', name: 'Committed with its write', tone: 'neutral', at: recorded },
    ...(batched === undefined
      ? []
      : [{ kind: 'batched', name: 'Taken into a notification', tone: 'neutral', at: batched } as const]),
    ...(leftOut > 0 ? [{ kind: 'left out', name: `${leftOut} earlier attempts failed`, tone: 'bad' } as const] : []),
    ...shown.map(({ ended, durationMilliseconds, delivered: isDelivered, replay, outcome }, index): Step => ({
      kind: 'attempt',
      name: replay === true ? 'Sent again' : `Attempt ${firstNumber + index}`,
      tone: isDelivered ? 'good' : 'bad',
      at: ended,
      outcome,
      ...(durationMilliseconds === undefined ? {} : { durationMilliseconds }),
    })),
    ...(delivered === undefined
      ? []
      : [{ kind: 'delivered', name: 'Delivered', tone: 'good', at: delivered } as const]),
    ...(state === 'delivered'
      ? []
      : [
          {
            kind: 'waits',
            name: state === 'queued' ? 'Waits for those before it' : 'Waits for the next attempt',
            tone: 'neutral',
          } as const,
        ]),
  ];
  const inOrder = steps
    .map((step, place) => ({ step, place, time: step.at === undefined ? undefined : Date.parse(step.at) }))
    .sort((one, other) => (one.time ?? 0) - (other.time ?? 0) || one.place - other.place);
  // In order of time, attempts of a replay come after the delivery. If a step has no time, all steps keep their places.
  const timed = steps.every(({ at }) => at !== undefined) ? inOrder.map(({ step }) => step) : steps;
  return timed.map((step, index) => {
    const before = timed[index - 1]?.at;
    if (step.at === undefined || before === undefined) return step;
    return { ...step, after: Math.max(0, Date.parse(step.at) - Date.parse(before)) };
  });
}
