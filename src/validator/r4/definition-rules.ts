import { elementsOfType, isPrimitiveType, membersOfType, typeOfCanonical } from '../../fhir/definitions/definitions';
import { type ItemCheck } from './binding-check';
import { isObject, objectsIn, type PlainObject } from '../../platform/json/plain-object';

/**
 * Checks that a profile of an R4 type constrains only elements that the type has. Constraints on other elements would
 * never be checked.
 */
export const checkConstrainedPaths: ItemCheck = (definition, run) => {
  if (!isObject(definition) || definition.derivation !== 'constraint' || !isObject(definition.differential)) return;
  if (typeof definition.type !== 'string' || elementsOfType(definition.type) === undefined) return;
  for (const [index, { path, type }] of objectsIn(definition.differential.element).entries()) {
    const at = ['differential', 'element', index];
    if (typeof path === 'string' && !isElement(path))
      run.reportAt([...at, 'path'], 'value', `"${path.slice(0, 200)}" is no element of R4.`);
    for (const fault of objectsIn(type).flatMap(typeFaultsOf)) run.reportAt([...at, 'type'], 'value', fault);
  }
};

/** The faults of a type in a profile. If its `profile` is an R4 type, it must be this type itself. */
function typeFaultsOf({ code, profile }: PlainObject): string[] {
  if (typeof code !== 'string' || !Array.isArray(profile) || elementsOfType(code) === undefined) return [];
  return (profile as readonly unknown[]).flatMap((canonical) => {
    const type = typeof canonical === 'string' ? typeOfCanonical(canonical) : undefined;
    return type === undefined || type === code || code === 'Resource' || code === 'DomainResource'
      ? []
      : [`The profile ${String(canonical).slice(0, 200)} is the type ${type}, and no profile of ${code.slice(0, 64)}.`];
  });
}

function isElement(path: string): boolean {
  const [root = '', ...steps] = path.split('.');
  let types: readonly string[] = [root];
  for (const step of steps) {
    // A resource of any type is possible here, so any element is accepted.
    if (types.includes('Resource')) return true;
    const below = types.flatMap((type) => typesBelow(type, step));
    if (below.length === 0) return step === 'value' && types.some(isPrimitiveType);
    types = below;
  }
  return true;
}

function typesBelow(type: string, step: string): readonly string[] {
  const named = elementsOfType(type)?.get(step.replace('[x]', ''));
  if (named !== undefined) return named.types;
  const member = membersOfType(type)?.get(step);
  return member === undefined ? [] : [member.type];
}
