import { isR4ResourceType, typeOfCanonical } from '../../fhir/definitions/definitions';
import { parseReference } from '../../fhir/reference';
import { isObject } from '../../platform/json/plain-object';
import { type ValidationRun } from '../r4/validation-run';
import { type ElementConstraint } from './stored-profile';

/** Reports an element or slice that occurs too rarely or too often. */
export function checkCount(
  constraints: readonly ElementConstraint[],
  count: number,
  name: string,
  run: ValidationRun,
  url: string,
): void {
  const min = Math.max(0, ...constraints.map((constraint) => constraint.min ?? 0));
  const max = Math.min(Infinity, ...constraints.map((constraint) => constraint.max ?? Infinity));
  if (count < min)
    run.report(
      'required',
      `${url}: ${name} must occur at least ${min === 1 ? 'once' : `${min} times`}, not ${count} times.`,
    );
  if (count > max)
    run.report(
      'structure',
      max === 0
        ? `${url}: ${name} is not allowed.`
        : `${url}: ${name} may occur at most ${max === 1 ? 'once' : `${max} times`}, not ${count} times.`,
    );
}

/**
 * Checks that a reference leads to one of the allowed types. It checks only if all targets are R4 types; whether a
 * stored target conforms to a profile is not checked here.
 */
export function checkTargetProfiles(
  targetProfiles: readonly string[],
  reference: unknown,
  run: ValidationRun,
  url: string,
): void {
  const types = targetProfiles.map(typeOfCanonical);
  if (types.length === 0 || types.some((type) => type === undefined || !isR4ResourceType(type))) return;
  if (!isObject(reference) || typeof reference.reference !== 'string') return;
  const target = parseReference(reference.reference, '');
  if (target?.kind === 'local' && !types.includes(target.type))
    run.report('structure', `${url}: it may point at ${types.join(', ')} only.`);
}
