import { type LocationStep } from '../../fhirpath/fhirpath';
import { type JsonObject, type JsonValue } from '../../platform/json/lossless';
import { type Element, ElementList } from './element-list';
import { type ElementLocation, type ElementPath } from './element-path';
import { type MemberType, isDefined, memberType, elementTypeOf } from './element-type';
import { choiceKey, elementOf, keyFor } from './element-value';
import { PatchEffort } from './patch-effort';
import { type PatchTree } from './patch-tree';
import { type PatchValue } from './patch-operation';
import { excerpt, unfit } from './tree-patch';

/** The members of an element, and the name of its type if R4 defines it. */
interface Place {
  readonly members: JsonObject;
  readonly type: string | undefined;
}

/** A resource that the operations of a FHIRPath patch change in place. */
export class PatchedResource {
  private readonly effort = new PatchEffort();

  constructor(private readonly tree: PatchTree) {}

  /** @throws ServiceError 'unprocessable' unless the path selects exactly one element */
  findOne(path: ElementPath): ElementLocation {
    const [only, ...others] = path.find(this.tree.plain);
    if (only !== undefined && others.length === 0) return only;
    const found = only === undefined ? 'names no element' : `names ${others.length + 1} elements`;
    throw unfit(`The path "${excerpt(path.text)}" ${found} of the resource; it must name one.`);
  }

  /** Appends to a repeated element. Any other element is set, and must not exist yet. */
  add(at: ElementLocation, name: string, value: PatchValue): void {
    const { members, type } = this.placeAt(at);
    const key = keyFor(type, name, value);
    const member = memberType(type, key);
    const element = this.element(value, member, at);
    if (member?.isRepeated ?? Array.isArray(members.get(key))) {
      const list = new ElementList(this.tree, members, key);
      list.insert(list.length, element);
      return;
    }
    const isTaken = [...members.keys()].some((known) => isSameMember(type, known.replace(/^_/, ''), key));
    if (isTaken) throw unfit(`"${excerpt(key)}" is there already: use replace.`);
    this.setElement(members, key, element);
  }

  insert(at: ElementLocation, name: string, index: number, value: PatchValue): void {
    const { list, member } = this.listAt(at, name);
    list.insert(index, this.element(value, member, at));
  }

  move(at: ElementLocation, name: string, source: number, destination: number): void {
    this.listAt(at, name).list.move(source, destination);
  }

  /** Deletes the selected element, if there is one, and parents that become empty, since FHIR has no empty elements. */
  delete(path: ElementPath): void {
    if (path.find(this.tree.plain).length === 0) return;
    const at = this.findOne(path);
    const { step, parent } = this.parentOf(at);
    this.removeElement(parent.members, step);
    this.prune(at.slice(0, -1));
  }

  /** Replaces an element. The new value of a choice may have another type. */
  replace(at: ElementLocation, value: PatchValue): void {
    const { step, parent } = this.parentOf(at);
    const member = memberType(parent.type, step.key);
    const isOtherType = member?.choices !== undefined && value.kind === 'typed';
    const key = isOtherType ? choiceKey(member, value) : step.key;
    const element = this.element(value, member, at.slice(0, -1));
    this.tree.rename(parent.members, step.key, key);
    this.putElement(parent.members, { key, index: step.index }, element);
  }

  private element(value: PatchValue, member: MemberType | undefined, at: ElementLocation): Element {
    const { value: own, extra } = elementOf(value, member?.type);
    const depth = at.length * 2 + 2;
    return {
      value: own === undefined ? undefined : this.effort.copy(own, depth),
      extra: extra === undefined ? undefined : this.effort.copy(extra, depth),
    };
  }

  private listAt(at: ElementLocation, name: string): { list: ElementList; member: MemberType | undefined } {
    const { members, type } = this.placeAt(at);
    const member = memberType(type, name);
    if (isDefined(type) && member?.isRepeated !== true) throw unfit(`${type} has no list "${excerpt(name)}".`);
    return { list: new ElementList(this.tree, members, name), member };
  }

  private parentOf(at: ElementLocation): { step: LocationStep; parent: Place } {
    const step = at.at(-1);
    if (step === undefined) throw unfit('A path must name an element of the resource, not the resource itself.');
    const parent = this.placeAt(at.slice(0, -1));
    return { step: stepIn(parent, step), parent };
  }

  private placeAt(at: ElementLocation): Place {
    const { root } = this.tree;
    let place: Place = { members: root, type: elementTypeOf(root, undefined) };
    for (const found of at) {
      const step = stepIn(place, found);
      const members = this.membersAt(place.members, step);
      place = { members, type: elementTypeOf(members, memberType(place.type, step.key)?.type) };
    }
    return place;
  }

  private prune(at: ElementLocation): void {
    if (at.length === 0 || this.placeAt(at).members.size > 0) return;
    const { step, parent } = this.parentOf(at);
    const element = elementAt(parent.members, step);
    if (element.value instanceof Map) this.removeElement(parent.members, step);
    else this.putElement(parent.members, step, { ...element, extra: undefined });
    this.prune(at.slice(0, -1));
  }

  /** The members of an element. Those of a primitive (id, extensions) are beside its value, and made if missing. */
  private membersAt(members: JsonObject, step: LocationStep): JsonObject {
    const { value, extra } = elementAt(members, step);
    if (value instanceof Map) return value;
    if (extra instanceof Map) return extra;
    const made: JsonObject = new Map();
    this.putElement(members, step, { value, extra: made });
    return made;
  }

  private setElement(members: JsonObject, key: string, { value, extra }: Element): void {
    this.tree.set(members, key, value);
    this.tree.set(members, `_${key}`, extra);
  }

  private putElement(members: JsonObject, { key, index }: LocationStep, element: Element): void {
    if (index === undefined) this.setElement(members, key, element);
    else new ElementList(this.tree, members, key).replace(index, element);
  }

  private removeElement(members: JsonObject, { key, index }: LocationStep): void {
    if (index === undefined) this.setElement(members, key, { value: undefined, extra: undefined });
    else new ElementList(this.tree, members, key).remove(index);
  }
}

/** The step with the JSON name of its element: `valueQuantity` for `value`. */
function stepIn({ members, type }: Place, { key, index }: LocationStep): LocationStep {
  const names = [...members.keys()].map((name) => name.replace(/^_/, ''));
  if (names.includes(key)) return { key, index };
  const named = names.find((name) => {
    const member = memberType(type, name);
    return member?.choices !== undefined && member.name === key;
  });
  return { key: named ?? key, index };
}

function elementAt(members: JsonObject, { key, index }: LocationStep): Element {
  const at = (value: JsonValue | undefined): JsonValue | undefined =>
    index === undefined || !Array.isArray(value) ? value : value[index];
  return { value: at(members.get(key)), extra: at(members.get(`_${key}`)) };
}

/** Whether two JSON names mean the same member. `valueString` and `valueQuantity` do. */
function isSameMember(type: string | undefined, one: string, other: string): boolean {
  if (one === other) return true;
  const member = memberType(type, one);
  return member?.choices !== undefined && member.name === memberType(type, other)?.name;
}
