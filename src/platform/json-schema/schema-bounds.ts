import { isObject, memberOf } from '../json/plain-object';

const MAX_TEXT_LENGTH = 65_536;
const MAX_DEPTH = 32;

/** Schemas after resolving all references: in a chain of references, each link can double the number. */
const MAX_SCHEMAS = 1000;

/** Keywords whose values are data, not schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples', 'required', 'type']);

/** Keywords that contain schemas under names which the author chooses. */
const SCHEMAS_BY_NAME = new Set(['properties', 'patternProperties', 'definitions', 'dependencies']);

/** `uniqueItems` can take hours for a long list; the others change the meaning of a whole schema. */
const REFUSED = ['uniqueItems', '$async', '$id'];

/**
 * Checks that a schema is cheap to compile, and cheap to evaluate for any request.
 * @returns the text of the fault; undefined if there is none
 */
export function faultOfSchema(schema: unknown): string | undefined {
  if (!isObject(schema) || Object.keys(schema).length === 0) return 'must be a JSON schema that asks for something';
  if (JSON.stringify(schema).length > MAX_TEXT_LENGTH) return `has more than ${MAX_TEXT_LENGTH} characters`;
  return new SchemaVisit(schema).faultOf(schema, [], 0);
}

class SchemaVisit {
  private left = MAX_SCHEMAS;

  constructor(private readonly root: unknown) {}

  faultOf(node: unknown, references: readonly string[], depth: number): string | undefined {
    if (Array.isArray(node)) return this.firstFault(node, references, depth);
    if (!isObject(node)) return undefined;
    if (--this.left < 0 || depth > MAX_DEPTH) return 'is too large, or refers to its parts too often';
    const refused = REFUSED.find((keyword) => Object.hasOwn(node, keyword));
    if (refused !== undefined) return `uses ${refused}, which is not supported`;
    if (typeof node.$ref === 'string') return this.faultOfReference(node.$ref, references, depth);
    const below = Object.entries(node).flatMap(([keyword, value]) => {
      if (VALUES.has(keyword)) return [];
      return SCHEMAS_BY_NAME.has(keyword) && isObject(value) ? Object.values(value) : [value];
    });
    return this.firstFault(below, references, depth);
  }

  private firstFault(nodes: readonly unknown[], references: readonly string[], depth: number): string | undefined {
    for (const node of nodes) {
      const fault = this.faultOf(node, references, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  private faultOfReference(reference: string, references: readonly string[], depth: number): string | undefined {
    if (references.includes(reference)) return `refers to itself by ${reference}`;
    const target = definitionAt(this.root, reference);
    if (target === undefined) return `refers to ${reference}, which is not among its definitions`;
    return this.faultOf(target, [...references, reference], depth + 1);
  }
}

/** Returns the target of a reference `#/definitions/name`, the only supported form; undefined if there is none. */
function definitionAt(schema: unknown, reference: string): unknown {
  const [, name] = /^#\/definitions\/([\w.-]+)$/.exec(reference) ?? [];
  return name === undefined ? undefined : memberOf(memberOf(schema, 'definitions'), name);
}
