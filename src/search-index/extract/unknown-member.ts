import { memberKey } from '../../fhir/definitions/definitions';
import { ElementTables, type OwnShapes } from '../../fhir/definitions/element-tables';
import { type Branch } from '../../fhirpath/fhirpath';
import { nearestCode } from '../../platform/text/nearest-code';

/** Types whose members the tables do not list. */
const ANYTHING = ['Any', 'Resource', 'NativeReference'];

/**
 * Returns what is wrong with a path into a type of a module, if the type has a shape: a JSON member that no resource of
 * the type has, so that the path would never find a value. Undefined if nothing is wrong.
 */
export function unknownMember(shape: OwnShapes, type: string, { steps }: Branch): string | undefined {
  const tables = new ElementTables(shape);
  let types: readonly string[] = [type];
  for (const { member } of steps) {
    if (member === undefined) continue; // a filter, which stays at the same element
    if (types.some((of) => ANYTHING.includes(of) || tables.hasOtherMembers(of))) return undefined;
    const elements = types.flatMap((of) => [...(tables.elementsOf(of)?.values() ?? [])]);
    const members = elements.flatMap((element) => element.types.map((of) => [memberKey(element, of), of] as const));
    const found = members.filter(([name]) => name === member.replace(/^_/, ''));
    if (found.length === 0) {
      const near = nearestCode(
        member,
        members.map(([name]) => name),
      );
      const hint = near === undefined ? '' : `; do you mean "${near}"?`;
      return `the shape has no member "${member}" there${hint}`;
    }
    types = found.map(([, of]) => of);
  }
  return undefined;
}
