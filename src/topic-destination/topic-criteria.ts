import fhirpath, { type Model } from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';

/** A change as criteria see it: resources as texts, absent where there is none. */
export interface ChangedTexts {
  readonly current?: string;
  readonly previous?: string;
}

/** Whether a change matches. @throws Error when the expression cannot be evaluated on these resources. */
export type TopicCriteria = (change: ChangedTexts) => boolean;

/** `trace()` would write resources to the log. */
const OPTIONS = { async: false, traceFn: () => undefined } as const;

/**
 * Compiles a criterion: FHIRPath on the current resource, for a deletion on the last one, with `%current` and
 * `%previous`, either of which is empty where there is none. It matches when it yields true and nothing else.
 * @throws Error when it does not compile, or names a function or variable that there is not.
 */
export function compileCriteria(expression: string, type: string): TopicCriteria {
  const evaluate = fhirpath.compile(expression, r4 as Model, OPTIONS);
  const criteria: TopicCriteria = ({ current, previous }) => {
    // Texts are parsed for each evaluation: the library may change what it is given.
    const variables = { current: resourceOf(current), previous: resourceOf(previous) };
    const focus = current === undefined ? variables.previous : variables.current;
    const result = evaluate(focus, { ...variables, resource: focus }) as readonly unknown[];
    return result.length === 1 && result[0] === true;
  };
  // Names are looked up only when an expression runs.
  criteria({ current: JSON.stringify({ resourceType: type }) });
  return criteria;
}

const resourceOf = (text: string | undefined): unknown => (text === undefined ? [] : JSON.parse(text));
