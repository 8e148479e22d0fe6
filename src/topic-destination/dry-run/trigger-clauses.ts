import { type TopicTrigger } from '../topic';
import { compileCriterion, type Criterion } from '../../fhirpath/fhirpath';
import { clausesOf } from './criteria-clauses';

/** A trigger with the parts of its criterion, of which each must hold. */
export interface TriggerClauses {
  readonly trigger: TopicTrigger;
  readonly clauses: readonly { readonly text: string; readonly criteria: Criterion }[];
}

export function triggerClausesOf(trigger: TopicTrigger): TriggerClauses {
  const { type, expression } = trigger;
  if (expression === undefined) return { trigger, clauses: [] };
  const clauses = clausesOf(expression).map((text) => ({
    text,
    criteria: compileCriterion(text, type, true),
  }));
  return { trigger, clauses };
}
