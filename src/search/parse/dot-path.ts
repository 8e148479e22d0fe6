import { isPrimitiveType, isR4ResourceType, type Member, membersOfType } from '../../fhir/definitions/definitions';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { pathText } from './json-path';
import { invalid } from './values';

/**
 * Maximum number of steps and of characters in a path. No model has deeper or longer paths, and each step costs a
 * lookup per value.
 */
const MAX_STEPS = 16;
const LONGEST_PATH = 256;

const STEP = /^(?:\d{1,6}|[\p{L}_][\p{L}\p{N}_-]{0,63})$/u;

/**
 * Reads a path. A step without an index applies to all items of an array.
 * @param name the parameter as sent, for the error
 * @throws ServiceError 'invalid' if the text is no path, or the FHIR type has no such element
 */
export function dotPathOf(
  text: string,
  resourceType: string,
  name: string,
): { readonly jsonPath: string; readonly type: string | undefined } {
  const steps = text.split('.').slice(1);
  if (text.length > LONGEST_PATH || steps.length > MAX_STEPS)
    throw invalid(name, `is longer than ${MAX_STEPS} steps and ${LONGEST_PATH} characters`);
  if (steps.length === 0 || !steps.every((step) => STEP.test(step)) || isIndex(steps[0] ?? ''))
    throw invalid(name, 'is no path such as .name.0.family');
  let place: Place = { type: isR4ResourceType(resourceType) ? resourceType : undefined, isList: false };
  const jsonSteps = steps.map((step) => {
    if (isIndex(step)) {
      if (place.type !== undefined && !place.isList)
        throw invalid(name, `has an index "${step}" where there is no list`);
      place = { ...place, isList: false };
      return `[${step}]`;
    }
    place = below(place.type, step, name);
    return `.${pathText(step)}`;
  });
  // A list at the end is replaced by its items; any other value is kept.
  return { jsonPath: `$${jsonSteps.join('')}[*]`, type: place.type };
}

interface Place {
  readonly type: string | undefined;
  readonly isList: boolean;
}

const isIndex = (step: string): boolean => /^\d/.test(step);

/**
 * The place below `type` that a step leads to. Steps are names of JSON members, such as `valueQuantity` of a choice, or
 * `_birthDate` for the extensions of a primitive value.
 */
function below(type: string | undefined, step: string, name: string): Place {
  const known = type === undefined ? undefined : membersOfType(type);
  if (type === undefined || known === undefined || type === 'Resource') return { type: undefined, isList: true };
  if (step === 'resourceType' && isR4ResourceType(type)) return { type: 'string', isList: false };
  const members = isPrimitiveType(type) ? new Map<string, Member>() : known;
  const found = members.get(step.replace(/^_/, ''));
  if (found === undefined || (step.startsWith('_') && !isPrimitiveType(found.type))) {
    const hint = didYouMean(nearestCode(step, members.keys()));
    throw invalid(name, `leads to "${step}", which ${type} does not have`, hint);
  }
  return { type: step.startsWith('_') ? 'Element' : found.type, isList: found.element.isRepeated };
}
