import {
  capitalized,
  isR4ResourceType,
  isSubtype,
  lineageOf,
  typeOfCanonical,
} from '../../fhir/definitions/definitions';
import { parseReference } from '../../fhir/reference';
import { isObject } from '../../platform/json/plain-object';
import { type ElementValue } from './element-values';
import { type ProfileRun } from './profile-run';
import { type TypeConstraint } from './stored-profile';

/** The types that a profile allows for an element, compared with one value. */
export interface FittingTypes {
  /** The type of the value, if the key of the value or the value itself names it. */
  readonly actual: string | undefined;
  readonly isFitting: boolean;
  /** Canonicals of profiles. The value must conform to one of them; an empty list allows any value. */
  readonly profiles: readonly string[];
  /**
   * Canonicals of profiles for the target of a reference. It must conform to one of them; an empty list allows any
   * target.
   */
  readonly targetProfiles: readonly string[];
}

/**
 * Compares the types with a value. If several types are possible and one of them has no profiles, all values are
 * allowed.
 */
export function fittingTypesOf(types: readonly TypeConstraint[], item: ElementValue): FittingTypes {
  const actual = item.choiceType ?? resourceTypeOf(item.value);
  const fitting = actual === undefined ? types : types.filter(({ code }) => isOfType(actual, code));
  return {
    actual,
    isFitting: fitting.length > 0,
    profiles: unionOf(fitting.map(({ profiles }) => profiles)),
    targetProfiles: fitting.every(({ code }) => code === 'Reference')
      ? unionOf(fitting.map(({ targetProfiles }) => targetProfiles))
      : [],
  };
}

/** Checks the type of a reference's target, if all allowed targets are R4 types. Stored targets are not read. */
export function checkTargetProfiles(targetProfiles: readonly string[], reference: unknown, at: ProfileRun): void {
  const types = targetProfiles.map(typeOfCanonical);
  if (types.length === 0 || types.some((type) => type === undefined || !isR4ResourceType(type))) return;
  if (!isObject(reference) || typeof reference.reference !== 'string') return;
  const target = parseReference(reference.reference, '');
  if (target?.kind === 'local' && !types.includes(target.type))
    at.report('structure', `it may point at ${types.join(', ')} only.`);
}

export const resourceTypeOf = (value: unknown): string | undefined =>
  isObject(value) && typeof value.resourceType === 'string' ? value.resourceType : undefined;

/** Whether a type is `code` or a subtype of it. Types of this server are resources too. */
function isOfType(actual: string, code: string): boolean {
  if (actual === capitalized(code) || isSubtype(actual, code)) return true;
  return lineageOf(actual).length === 0 && (code === 'Resource' || code === 'DomainResource');
}

const unionOf = (lists: readonly (readonly string[])[]): readonly string[] =>
  lists.some((list) => list.length === 0) ? [] : [...new Set(lists.flat())];
