import { elementsOfType } from '../fhir/definitions/definitions';
import { ElementTables, OTHER_MEMBERS, type OwnShapes } from '../fhir/definitions/element-tables';
import { type OwnResourceType } from './resource-type';

const ELEMENT = /^[01]\.\.[1*] ([A-Za-z][\w.]*(\([\w,]+\))?(\|(?!$)|$))+$/;

/** Types of elements that R4 lacks. */
const OWN_TYPES = new Set(['Any', 'NativeReference']);

/**
 * Returns what is wrong with the shape of a type, undefined if nothing is. A wrong shape would fail at each write, or
 * check nothing.
 */
export function faultOfShape({ type, shape }: OwnResourceType): string | undefined {
  if (shape === undefined) return undefined;
  const used = new Set([type]);
  for (const [owner, elements] of Object.entries(shape)) {
    for (const [name, text] of Object.entries(elements)) {
      if (name in OTHER_MEMBERS) continue;
      if (!ELEMENT.test(text))
        return `"${owner}.${name}" is "${text}". Write it as "0..1 code", "1..* Reference(Patient)" or "0..1 string|Coding"`;
      for (const of of typesOf(text)) {
        used.add(of);
        if (shape[of] === undefined && elementsOfType(of) === undefined && !OWN_TYPES.has(of))
          return `"${owner}.${name}" has the type "${of}", which neither R4 nor the shape has`;
      }
    }
  }
  if (shape[type] === undefined) return `it has no entry "${type}"`;
  const unused = Object.keys(shape).find((owner) => !used.has(owner));
  return unused === undefined ? undefined : `no element has the type "${unused}"`;
}

/** The target types of references, in the shape and in the search parameters of a type. */
export function targetsOf({ shape = {}, searchParameters = [] }: OwnResourceType): readonly string[] {
  const elements = Object.values(shape).flatMap((one) => Object.values(one));
  const lists = elements.flatMap((text) => [...text.matchAll(/\(([\w,]+)\)/g)].map(([, list = '']) => list.split(',')));
  return [...lists, ...searchParameters.map(({ targets = [] }) => targets)].flat();
}

/**
 * The shape of `meta` has the name `Native.meta`. All native types share it, so `Native` stands for each of them.
 */
const NATIVE = 'Native';

/**
 * Shape of `meta` for native types. It is that of R4 plus the creation time, which resources of an exported Bundle
 * have.
 */
const NATIVE_META: OwnShapes = {
  [`${NATIVE}.meta`]: {
    versionId: '0..1 id',
    lastUpdated: '0..1 instant',
    createdAt: '0..1 instant',
    source: '0..1 uri',
    profile: '0..* canonical(StructureDefinition)',
    security: '0..* Coding',
    tag: '0..* Coding',
  },
};

/** The elements by which resources of R4's types and of the given types are validated. */
export function elementTablesOf(types: readonly OwnResourceType[]): ElementTables {
  const shapes = Object.assign({}, NATIVE_META, ...types.map(shapesOf)) as OwnShapes;
  const open = types.filter(({ shape }) => shape === undefined).map(({ type }) => type);
  const native = types.filter(({ isNative }) => isNative === true).map(({ type }) => type);
  return new ElementTables(shapes, new Set(open), new Set([NATIVE, ...native]));
}

function shapesOf({ type, shape = {}, isNative }: OwnResourceType): OwnShapes {
  const elements = shape[type];
  return isNative === true && elements !== undefined
    ? { ...shape, [type]: { ...elements, meta: `0..1 ${NATIVE}.meta` } }
    : shape;
}

/** The types of an element in the notation of elements.json: `0..* Reference(Patient)|string` has two. */
const typesOf = (text: string): string[] => (text.split(' ')[1] ?? '').split('|').map((one) => one.replace(/\(.*/, ''));
