import { isR4ResourceType, lineageOf } from '../../fhir/definitions/definitions';
import { parseReference } from '../../fhir/reference';
import { isObject } from '../../platform/json/plain-object';
import { type ValidationRun } from '../r4/validation-run';
import { type ElementConstraint } from './stored-profile';

const CORE_TYPE = /^http:\/\/hl7\.org\/fhir\/StructureDefinition\/([A-Za-z0-9]+)$/;

/** Whether a canonical names a type of R4 itself; HL7's own profiles, such as `vitalsigns`, have URLs like it. */
export function isCoreType(canonical: string): boolean {
  return typeOfCanonical(canonical) !== undefined;
}

/** The type of R4 that a canonical names. */
export function typeOfCanonical(canonical: string): string | undefined {
  const [, type = ''] = CORE_TYPE.exec(canonical) ?? [];
  return lineageOf(type).length > 0 ? type : undefined;
}

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
      `${url}: ${name} must be there at least ${min === 1 ? 'once' : `${min} times`}, not ${count} times.`,
    );
  if (count > max)
    run.report(
      'structure',
      max === 0
        ? `${url}: ${name} is not allowed.`
        : `${url}: ${name} may be there at most ${max === 1 ? 'once' : `${max} times`}, not ${count} times.`,
    );
}

/** Only where all targets are types of R4: what a stored target conforms to is another question. */
export function checkTarget(
  targetProfiles: readonly string[],
  reference: unknown,
  run: ValidationRun,
  url: string,
): void {
  const types = targetProfiles.map((profile) => CORE_TYPE.exec(profile)?.[1]);
  if (
    types.length === 0 ||
    types.includes('Resource') ||
    types.some((type) => type === undefined || !isR4ResourceType(type))
  )
    return;
  if (!isObject(reference) || typeof reference.reference !== 'string') return;
  const target = parseReference(reference.reference, '');
  if (target?.kind === 'local' && !types.includes(target.type))
    run.report('structure', `${url}: it may point at ${types.join(', ')} only.`);
}
