import { elementsOfType, memberKey } from '../../fhir/definitions/definitions';
import { type JsonObject } from '../../platform/json/lossless';

/** R4's definition of a member. R4 does not define members of this server's own types. */
export interface MemberType {
  /** The JSON name of the element. For a choice, it is the name without a type. */
  readonly name: string;
  readonly isRepeated: boolean;
  /** The types that a choice allows; undefined for other elements. */
  readonly choices: readonly string[] | undefined;
  /** The type of the value. For a choice it is undefined, unless the JSON name contains the type. */
  readonly type: string | undefined;
}

/** Whether R4 defines the members of `type`. */
export const isDefined = (type: string | undefined): type is string =>
  type !== undefined && elementsOfType(type) !== undefined;

/** Finds a member by its JSON name. A choice such as `value[x]` is also found by its name without a type. */
export function memberType(type: string | undefined, key: string): MemberType | undefined {
  const elements = type === undefined ? undefined : elementsOfType(type);
  for (const element of elements?.values() ?? []) {
    const { name, isChoice, isRepeated, types } = element;
    if (!isChoice && name === key) return { name, isRepeated, choices: undefined, type: types[0] };
    if (!isChoice || !key.startsWith(name)) continue;
    const named = types.find((choice) => memberKey(element, choice) === key);
    if (named !== undefined || name === key) return { name, isRepeated, choices: types, type: named };
  }
  return undefined;
}

/** The type of the element whose members are `members`. For a resource this is its `resourceType`, else `declared`. */
export function elementTypeOf(members: JsonObject, declared: string | undefined): string | undefined {
  const named = members.get('resourceType');
  return typeof named === 'string' ? named : declared;
}
