import { JsonNumber, type JsonObject, type JsonValue } from '../../platform/json/lossless';
import { malformed, excerpt } from './tree-patch';

/** A value in `Parameters`: a member such as `valueQuantity`, a resource, or an element whose members are parts. */
export type PatchValue =
  | {
      readonly kind: 'typed';
      readonly suffix: string;
      readonly value: JsonValue | undefined;
      readonly extra: JsonValue | undefined;
    }
  | { readonly kind: 'resource'; readonly value: JsonValue }
  | { readonly kind: 'parts'; readonly parts: readonly PatchPart[] };

export interface PatchPart {
  readonly name: string;
  readonly value: PatchValue;
}

/**
 * Reads the operations of a FHIRPath patch (http://hl7.org/fhir/R4/fhirpatch.html) from `Parameters`.
 * @throws ServiceError 'invalid' naming the missing or malformed member
 */
export function operationsOf(parameters: JsonValue): readonly OperationParts[] {
  if (!(parameters instanceof Map) || parameters.get('resourceType') !== 'Parameters')
    throw malformed('A FHIRPath patch is a Parameters resource (http://hl7.org/fhir/R4/fhirpatch.html).');
  return objectsAt(parameters, 'parameter', 'Parameters').map((parameter, index) => {
    const place = `Operation ${index} of the patch`;
    if (parameter.get('name') !== 'operation') throw malformed(`${place}: each parameter has the name "operation".`);
    return new OperationParts(objectsAt(parameter, 'part', place), place);
  });
}

/** The parts of one operation, such as its type, path and value. Each method refuses a part that is missing. */
export class OperationParts {
  private readonly byName = new Map<string, JsonObject>();

  constructor(
    parts: readonly JsonObject[],
    private readonly place: string,
  ) {
    for (const part of parts) {
      const name = nameOf(part, place);
      if (this.byName.has(name)) throw this.refused(`the part "${excerpt(name)}" occurs twice`);
      this.byName.set(name, part);
    }
  }

  text(name: string): string {
    const value = this.typed(name);
    if (typeof value !== 'string' || value === '') throw this.refused(`"${name}" is missing, or no text`);
    return value;
  }

  index(name: string): number {
    const value = this.typed(name);
    const isIndex = value instanceof JsonNumber && /^\d{1,9}$/.test(value.text);
    if (!isIndex) throw this.refused(`"${name}" is missing, or no whole number from 0 on`);
    return Number(value.text);
  }

  value(): PatchValue {
    const part = this.byName.get('value');
    if (part === undefined) throw this.refused('"value" is missing');
    return valueOf(part, this.place);
  }

  refused(reason: string): Error {
    return malformed(`${this.place}: ${reason}.`);
  }

  private typed(name: string): JsonValue | undefined {
    const part = this.byName.get(name);
    const value = part === undefined ? undefined : valueOf(part, this.place);
    return value?.kind === 'typed' ? value.value : undefined;
  }
}

/** Reads the value of a part. It recurses as deep as the body, whose depth the scan of bodies bounds. */
function valueOf(part: JsonObject, place: string): PatchValue {
  const keys = [...part.keys()].flatMap((key) => /^_?value([A-Z]\w*)$/.exec(key)?.[1] ?? []);
  const [suffix, ...others] = new Set(keys);
  const resource = part.get('resource');
  const forms = [suffix, resource, part.get('part')].filter((form) => form !== undefined).length;
  if (forms !== 1 || others.length > 0)
    throw malformed(
      `${place}: the part "${excerpt(nameOf(part, place))}" needs one value[x], resource or list of parts.`,
    );
  if (suffix !== undefined) {
    return { kind: 'typed', suffix, value: part.get(`value${suffix}`), extra: part.get(`_value${suffix}`) };
  }
  if (resource !== undefined) return { kind: 'resource', value: resource };
  const parts = objectsAt(part, 'part', place).map((child): PatchPart => ({
    name: nameOf(child, place),
    value: valueOf(child, place),
  }));
  if (parts.length === 0) throw malformed(`${place}: an element has at least one part.`);
  return { kind: 'parts', parts };
}

function nameOf(part: JsonObject, place: string): string {
  const name = part.get('name');
  if (typeof name !== 'string') throw malformed(`${place}: a part has no name.`);
  return name;
}

function objectsAt(parent: JsonObject, key: 'parameter' | 'part', place: string): readonly JsonObject[] {
  const parts = parent.get(key) ?? [];
  if (!Array.isArray(parts)) throw malformed(`${place}: "${key}" is no list.`);
  return parts.map((part) => {
    if (!(part instanceof Map)) throw malformed(`${place}: each ${key} is an object.`);
    return part;
  });
}
