import { type JsonValue } from '../../../../src/platform/json/lossless';
import { scalarText } from './datatypes';

export interface OutgoingReference {
  /** The path, such as `participant.0.individual`. */
  readonly path: string;
  readonly reference: string;
  readonly display?: string;
  /** A resource that this server may store; undefined for a contained, absolute or logical reference. */
  readonly target?: ResourceName;
}

export interface ResourceName {
  readonly type: string;
  readonly id: string;
}

const RELATIVE = /^([A-Z][A-Za-z]{0,63})\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;

/** Reads the name in `Patient/p7`, also if a version follows; undefined for anything else. */
export function resourceNameOf(reference: string): ResourceName | undefined {
  const [, type, id] = RELATIVE.exec(reference) ?? [];
  return type === undefined || id === undefined ? undefined : { type, id };
}

/** All references of a body in order: FHIR's `reference`, and `{resourceType, id}` of this server's own types. */
export function referencesOf(body: JsonValue): readonly OutgoingReference[] {
  const found: OutgoingReference[] = [];
  const open: { readonly value: JsonValue; readonly path: readonly string[] }[] = [{ value: body, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (value instanceof Map && path.length > 0) {
      const reference = referenceIn(value);
      const display = scalarText(value.get('display'));
      if (reference !== undefined) {
        const target = resourceNameOf(reference);
        found.push({
          path: path.join('.'),
          reference,
          ...(display === undefined ? {} : { display }),
          ...(target === undefined ? {} : { target }),
        });
      }
    }
    // A contained resource also has `resourceType` and `id`, but is no reference.
    const children = value instanceof Map ? [...value] : Array.isArray(value) ? value.map(indexed) : [];
    for (const [key, child] of children.reverse()) open.push({ value: child, path: [...path, key] });
  }
  return found;
}

const indexed = (value: JsonValue, index: number): [string, JsonValue] => [String(index), value];

function referenceIn(value: ReadonlyMap<string, JsonValue>): string | undefined {
  const reference = value.get('reference');
  if (typeof reference === 'string') return reference;
  const [type, id] = [value.get('resourceType'), value.get('id')];
  const isNative = [...value.keys()].every((key) => ['resourceType', 'id', 'display'].includes(key));
  return isNative && typeof type === 'string' && typeof id === 'string' ? `${type}/${id}` : undefined;
}
