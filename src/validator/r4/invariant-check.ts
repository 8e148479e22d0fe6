import {
  type ElementDefinition,
  type InvariantDefinition,
  invariantDefinitions,
  lineageOf,
  memberKey,
  once,
} from '../../fhir/definitions/definitions';
import { type ItemCheck } from './binding-check';
import { compileInvariant } from '../../fhirpath/fhirpath';
import { reasonForLeavingUnmet } from './unmet-on-purpose';
import { CHECKED_ELSEWHERE, LEFT_OUT } from './invariant-choices';
import { addTo } from '../../platform/lists-by-key';

export const invariantsOfType = (type: string): readonly ItemCheck[] =>
  lineageOf(type).flatMap((ancestor) => statedAt(ancestor).map((stated) => checkOf(stated, ancestor)));

/**
 * The invariants that an element states in addition to those of its type.
 * @param owner the type that has the element
 * @param type type of the values; a choice may state invariants for only one of its types
 */
export function invariantsOfElement(owner: string, element: ElementDefinition, type: string): readonly ItemCheck[] {
  return lineageOf(owner).flatMap((ancestor) => {
    const path = `${ancestor}.${element.name}`;
    // A backbone element is a separate type, with its path as the name. Its invariants are those of this type.
    if (path === type) return [];
    const ofChoice = element.isChoice ? statedAt(`${ancestor}.${memberKey(element, type)}`) : [];
    return [...statedAt(path), ...ofChoice].map((stated) => checkOf(stated, type, path));
  });
}

/** The invariants by path. Those that other code checks, or that are not checked at all, are left out. */
const invariantsByPath = once(() => {
  const table = new Map<string, InvariantDefinition[]>();
  for (const stated of invariantDefinitions()) {
    if (stated.key in CHECKED_ELSEWHERE || stated.key in LEFT_OUT) continue;
    for (const on of stated.on) addTo(table, on, stated);
  }
  return table;
});

export const statedAt = (path: string): readonly InvariantDefinition[] => invariantsByPath().get(path) ?? [];

function checkOf(stated: InvariantDefinition, type: string, path = type): ItemCheck {
  const truth = compileInvariant(stated.expression, path, type);
  const message = `${stated.key}: ${stated.human}`;
  return (item, run) => {
    const { resource, rootResource } = run;
    // Only false is a failure. The result may be empty: dates of different precision cannot be compared.
    if (truth(item, { resource, rootResource, context: item }) !== false) return;
    const reason = reasonForLeavingUnmet(stated.key, item);
    if (reason === undefined) run.report('invariant', message);
    else run.report('invariant', `${message}. ${reason}`, 'warning');
  };
}
