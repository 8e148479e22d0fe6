import { boundValueSets, isPrimitiveType, memberKey, r4ResourceTypes } from '../fhir/definitions/definitions';
import { ElementTables, type OwnShapes } from '../fhir/definitions/element-tables';
import { type ResourceTypes } from '../model/resource-types';
import { OWN_MEMBERS } from './own-members';
import { type Schema, schemaRef } from './schema';

/** Schemas of primitive types that are not just strings (http://hl7.org/fhir/R4/datatypes.html#primitive). */
const PRIMITIVES: Readonly<Record<string, Schema>> = {
  boolean: { type: 'boolean' },
  decimal: { type: 'number' },
  id: { type: 'string', pattern: '^[A-Za-z0-9.-]{1,64}$' },
  instant: { type: 'string', format: 'date-time' },
  integer: { type: 'integer', format: 'int32' },
  positiveInt: { type: 'integer', minimum: 1 },
  unsignedInt: { type: 'integer', minimum: 0 },
};

export const primitiveSchema = (type: string): Schema => PRIMITIVES[type] ?? { type: 'string' };

/** Schemas of types that R4 lacks (src/fhir/definitions/element-tables.ts). */
const SPECIAL: Readonly<Record<string, Schema>> = { Any: {}, NativeReference: schemaRef('NativeReference') };

/**
 * Maximum number of codes that a schema lists. An element with a larger value set is a plain string: HL7's list of
 * resource types alone would double the document.
 */
const MAX_CODES = 40;

/** Schemas of all resource types, data types and nested elements, from the definitions that validation uses. */
export function resourceSchemas(types: ResourceTypes): Readonly<Record<string, Schema>> {
  const described = types.described();
  const shapes = Object.assign({}, ...described.map(({ shape = {} }) => shape)) as OwnShapes;
  const natives = new Set(described.filter(({ isNative }) => isNative === true).map(({ type }) => type));
  const schemas: Record<string, Schema> = {};
  const make = new ResourceSchemas(new ElementTables(shapes), natives);
  const waiting = new Set(['Resource', ...described.map(({ type }) => type), ...r4ResourceTypes()]);
  for (const type of waiting) {
    schemas[type] = make.of(type);
    for (const part of make.parts.splice(0)) waiting.add(part);
  }
  return schemas;
}

class ResourceSchemas {
  /** The types to which the latest schema from `of` refers; the caller makes schemas for them too. */
  readonly parts: string[] = [];
  private readonly codes = new Map(
    boundValueSets().flatMap(({ elements, codes }) => elements.map((path) => [path, Object.values(codes).flat()])),
  );

  constructor(
    private readonly tables: ElementTables,
    private readonly natives: ReadonlySet<string>,
  ) {}

  of(type: string): Schema {
    const own = this.tables.elementsOf(type);
    const isResource = /^[A-Z]\w+$/.test(type) && own?.has('implicitRules') !== false;
    const table = own ?? this.tables.elementsOf('Resource');
    const isOpen = type === 'Resource' || this.tables.hasOtherMembers(type) || own === undefined;
    const properties: Record<string, Schema> = {};
    const required = isResource ? ['resourceType'] : [];
    if (isResource)
      properties.resourceType = type === 'Resource' ? { type: 'string' } : { type: 'string', enum: [type] };
    for (const element of table?.values() ?? []) {
      for (const of of element.types) {
        const item = this.itemOf(`${type}.${element.name}`, of);
        properties[memberKey(element, of)] = element.isRepeated ? { type: 'array', items: item } : item;
      }
      // In R4, an element of a primitive type may have an extension instead of a value, so its member is not required.
      const isMember =
        !element.isChoice && (this.tables.shapes[type] !== undefined || !element.types.some(isPrimitiveType));
      if (element.isRequired && isMember) required.push(element.name);
    }
    if (this.natives.has(type)) properties.meta = schemaRef('NativeMeta');
    for (const [name, described] of Object.entries(OWN_MEMBERS[type] ?? {}))
      properties[name] = { ...properties[name], ...described };
    const head: Schema = { type: 'object', ...(required.length === 0 ? {} : { required }), properties };
    return isOpen ? { ...head, additionalProperties: true } : head;
  }

  private itemOf(path: string, type: string): Schema {
    const special = SPECIAL[type];
    if (special !== undefined) return special;
    if (isPrimitiveType(type)) {
      const codes = type === 'code' ? this.codes.get(path) : undefined;
      return codes === undefined || codes.length > MAX_CODES ? primitiveSchema(type) : { type: 'string', enum: codes };
    }
    this.parts.push(type);
    return schemaRef(type);
  }
}
