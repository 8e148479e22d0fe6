import { capitalized } from '../../fhir/definitions/definitions';
import { type JsonObject } from '../../platform/json/lossless';
import { type Element } from './element-list';
import { type MemberType, isDefined, memberType } from './element-type';
import { type PatchPart, type PatchValue } from './patch-operation';
import { excerpt, unfit } from './tree-patch';

/**
 * The JSON name of an element with `value`: the name `value` and a Quantity give `valueQuantity`.
 * @throws ServiceError 'unprocessable' if R4 has no such element, or does not allow this type
 */
export function keyFor(parentType: string | undefined, name: string, value: PatchValue): string {
  const member = memberType(parentType, name);
  if (member === undefined) {
    if (isDefined(parentType)) throw unfit(`${parentType} has no element "${excerpt(name)}".`);
    return name;
  }
  return member.choices === undefined || member.type !== undefined ? name : choiceKey(member, value);
}

/** The JSON name of a choice whose value has another type than before. */
export function choiceKey({ name, choices = [] }: MemberType, value: PatchValue): string {
  const suffix = value.kind === 'typed' ? value.suffix : undefined;
  if (suffix === undefined || !choices.some((choice) => capitalized(choice) === suffix))
    throw unfit(`"${name}" takes one of these types, sent as value[x]: ${choices.join(', ')}.`);
  return `${name}${suffix}`;
}

/** Makes an element from a patch value. A value that is sent as several parts is assembled as R4 defines `type`. */
export function elementOf(value: PatchValue, type: string | undefined): Element {
  switch (value.kind) {
    case 'typed':
      return { value: value.value, extra: value.extra };
    case 'resource':
      return { value: value.value, extra: undefined };
    case 'parts':
      return { value: objectOf(value.parts, type), extra: undefined };
  }
}

function objectOf(parts: readonly PatchPart[], type: string | undefined): JsonObject {
  const lists = new Map<string, { readonly isRepeated: boolean; readonly elements: Element[] }>();
  for (const { name, value } of parts) {
    const key = keyFor(type, name, value);
    const member = memberType(type, key);
    const list = lists.get(key) ?? { isRepeated: member?.isRepeated ?? false, elements: [] };
    list.elements.push(elementOf(value, member?.type));
    lists.set(key, list);
  }
  const members: JsonObject = new Map();
  for (const [key, { isRepeated, elements }] of lists) {
    if (!isRepeated && elements.length > 1 && isDefined(type))
      throw unfit(`${type}.${excerpt(key)} may occur only once.`);
    const isList = isRepeated || elements.length > 1;
    for (const part of ['value', 'extra'] as const) {
      const column = elements.map((element) => element[part]);
      if (column.every((value) => value === undefined)) continue;
      members.set(
        part === 'value' ? key : `_${key}`,
        isList ? column.map((value) => value ?? null) : (column[0] ?? null),
      );
    }
  }
  return members;
}
