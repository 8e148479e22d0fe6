import fhirpath, { type Model } from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import { withinTime } from '../platform/time/within-time';

/** A change as criteria see it: resources as texts, absent where there is none. */
export interface ChangedTexts {
  readonly current?: string;
  readonly previous?: string;
}

/** Whether a change matches. @throws Error when the expression cannot be evaluated on these resources. */
export type TopicCriteria = (change: ChangedTexts) => boolean;

/** `trace()` would write resources to the log. */
const OPTIONS = { async: false, traceFn: () => undefined } as const;

/** On a resource without any content. */
const MAX_TRIAL_MILLISECONDS = 1_000;
/** The library's parser takes half a second for the worst text of this length. */
const MAX_LENGTH = 2_000;

/**
 * Compiles a criterion: FHIRPath on the current resource, for a deletion on the last one, with `%current` and
 * `%previous`, either of which is empty where there is none. It matches when it yields true and nothing else.
 * @throws Error when it does not compile
 */
export function compileCriteria(expression: string): TopicCriteria {
  if (expression.length > MAX_LENGTH) throw new Error(`it has more than ${MAX_LENGTH} characters`);
  const evaluate = fhirpath.compile(expression, r4 as Model, OPTIONS);
  return ({ current, previous }) => {
    // Texts are parsed for each evaluation: the library may change what it is given.
    const variables = { current: resourceOf(current), previous: resourceOf(previous) };
    const focus = current === undefined ? variables.previous : variables.current;
    const result = evaluate(focus, { ...variables, resource: focus }) as readonly unknown[];
    return result.length === 1 && result[0] === true;
  };
}

/** Names are looked up only when an expression runs. @throws Error when it names a function or variable that there is not, or is slow */
export function tryCriteria(criteria: TopicCriteria, type: string): void {
  const change = { current: JSON.stringify({ resourceType: type }) };
  const answer = withinTime(MAX_TRIAL_MILLISECONDS, () => criteria(change));
  if (answer === undefined) throw new Error('it takes too long');
}

const resourceOf = (text: string | undefined): unknown => (text === undefined ? [] : JSON.parse(text));
