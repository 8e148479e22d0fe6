import { type TopicTrigger } from '../topic';
import { type TopicCriteria, compileCriteria } from '../topic-criteria';
import { clausesOf } from './criteria-clauses';

/** A trigger with the parts of its criterion, of which each must hold. */
export interface TriggerClauses {
  readonly trigger: TopicTrigger;
  readonly clauses: readonly { readonly text: string; readonly criteria: TopicCriteria }[];
}

export function triggerClausesOf(trigger: TopicTrigger): TriggerClauses {
  const { type, expression } = trigger;
  if (expression === undefined) return { trigger, clauses: [] };
  const clauses = clausesOf(expression).map((text) => ({
    text,
    // Within a conjunction one value that is no boolean counts as true; on a line of its own, lest a comment takes all.
    criteria: compileCriteria(`(${text}\n) and true`, type),
  }));
  return { trigger, clauses };
}
