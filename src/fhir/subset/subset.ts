import {
  type JsonObject,
  type JsonValue,
  parseStoredInSteps,
  printLosslessInSteps,
} from '../../platform/json/lossless';
import { type Steps } from '../../platform/time/steps';
import { type AskedElements, type ElementPaths } from './element-paths';
import { type Member, membersOfType, summaryElementsOf } from '../definitions/definitions';

/** A part of a resource (http://hl7.org/fhir/R4/search.html#summary, #elements). */
export type Subset = { readonly summary: 'true' | 'text' | 'data' } | { readonly elements: AskedElements };

/** Members in every subset: the identity of the resource, and members that change its meaning. */
const ALWAYS = new Set(['resourceType', 'id', 'meta', 'implicitRules', 'modifierExtension']);

const SUBSETTED: JsonObject = new Map([
  ['system', 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue'],
  ['code', 'SUBSETTED'],
]);

/**
 * Keeps the requested part of a resource, and tags it SUBSETTED, so that no client stores it as a whole resource.
 * Mandatory elements stay, and numbers keep their digits. If the request names no part of this resource type, the
 * resource is returned unchanged.
 */
export function* subsetOf(text: string, subset: Subset): Steps<string> {
  const resource = yield* parseStoredInSteps(text);
  if (!(resource instanceof Map)) return text;
  const type = resource.get('resourceType');
  const part = typeof type === 'string' ? partOf(resource, type, subset) : undefined;
  if (part === undefined) return text;
  tag(part);
  return yield* printLosslessInSteps(part);
}

function partOf(resource: JsonObject, type: string, subset: Subset): JsonObject | undefined {
  if ('elements' in subset) {
    const paths = subset.elements(type);
    return paths === 'all' ? undefined : elementsPart(resource, type, paths);
  }
  switch (subset.summary) {
    case 'data':
      return mapped(resource, (key, value) => (key === 'text' ? undefined : value));
    case 'text':
      return mapped(resource, (key, value) =>
        key === 'text' || ALWAYS.has(key) || knownMember(type, key)?.element.isRequired === true ? value : undefined,
      );
    case 'true':
      return summaryElementsOf(type) === undefined ? undefined : summaryPart(resource, type);
  }
}

function summaryPart(object: JsonObject, type: string): JsonObject {
  const summary = summaryElementsOf(type);
  return mapped(object, (key, value) => {
    if (ALWAYS.has(key)) return value;
    const member = knownMember(type, key);
    if (member === undefined || !(summary?.has(member.element.name) === true || member.element.isRequired))
      return undefined;
    return eachObject(value, (child) => {
      const childType = typeOfChild(child, member);
      return summaryElementsOf(childType) === undefined ? child : summaryPart(child, childType);
    });
  });
}

function elementsPart(object: JsonObject, type: string, paths: ElementPaths): JsonObject {
  return mapped(object, (key, value) => {
    if (ALWAYS.has(key)) return value;
    const member = knownMember(type, key);
    const below = paths.below(key) ?? paths.below(member?.element.name ?? key);
    if (below === 'all') return value;
    if (below === 'none' || below === undefined) return member?.element.isRequired === true ? value : undefined;
    return eachObject(value, (child) =>
      elementsPart(child, member === undefined ? '' : typeOfChild(child, member), below),
    );
  });
}

/** The member of a JSON key. `_birthDate`, the sibling of a primitive, is kept or dropped with the primitive. */
const knownMember = (type: string, key: string): Member | undefined => membersOfType(type)?.get(key.replace(/^_/, ''));

function typeOfChild(value: JsonObject, { type }: Member): string {
  const named = type === 'Resource' ? value.get('resourceType') : type;
  return typeof named === 'string' ? named : type;
}

function eachObject(value: JsonValue, partOfObject: (object: JsonObject) => JsonObject): JsonValue {
  if (value instanceof Map) return partOfObject(value);
  return Array.isArray(value) ? value.map((element) => eachObject(element, partOfObject)) : value;
}

function mapped(object: JsonObject, valueOf: (key: string, value: JsonValue) => JsonValue | undefined): JsonObject {
  const part: JsonObject = new Map();
  for (const [key, value] of object) {
    const kept = valueOf(key, value);
    if (kept !== undefined) part.set(key, kept);
  }
  return part;
}

function tag(resource: JsonObject): void {
  const meta = resource.get('meta');
  const members = meta instanceof Map ? meta : new Map<string, JsonValue>();
  const tags = members.get('tag');
  members.set('tag', [...(Array.isArray(tags) ? tags.filter((known) => !isSubsetted(known)) : []), SUBSETTED]);
  resource.set('meta', members);
}

const isSubsetted = (tagValue: JsonValue): boolean =>
  tagValue instanceof Map && tagValue.get('code') === 'SUBSETTED' && tagValue.get('system') === SUBSETTED.get('system');
