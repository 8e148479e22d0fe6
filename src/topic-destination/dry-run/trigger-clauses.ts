import { type TopicTrigger } from '../topic';
import { compileCriterion, type Criterion } from '../../fhirpath/fhirpath';
import { type Steps } from '../../platform/time/steps';
import { clausesOf } from './criteria-clauses';

/** A trigger with the parts of its criterion, of which each must hold. */
export interface TriggerClauses {
  readonly trigger: TopicTrigger;
  readonly clauses: readonly { readonly text: string; readonly criteria: Criterion }[];
}

/** In steps: a criterion may have hundreds of clauses. */
export function* triggerClausesOf(trigger: TopicTrigger): Steps<TriggerClauses> {
  const { type, expression } = trigger;
  const clauses: { text: string; criteria: Criterion }[] = [];
  for (const text of expression === undefined ? [] : clausesOf(expression)) {
    clauses.push({ text, criteria: compileCriterion(text, type, true) });
    yield;
  }
  return { trigger, clauses };
}
