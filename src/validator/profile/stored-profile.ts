import { isObject, objectsIn, type PlainObject } from '../../platform/json/plain-object';

/** An element of a StructureDefinition, reduced to its constraints (http://hl7.org/fhir/R4/elementdefinition.html). */
export interface ElementConstraint {
  readonly id: string;
  readonly path: string;
  readonly min: number | undefined;
  /** Maximum number of occurrences of the element; Infinity for `*`. */
  readonly max: number | undefined;
  readonly types: readonly TypeConstraint[];
  /** `fixed[x]`: the value must be equal to this value. */
  readonly fixed: { readonly value: unknown } | undefined;
  /** `pattern[x]`: the value must contain this value. */
  readonly pattern: { readonly value: unknown } | undefined;
  /** The least (`minValue[x]`) and the greatest (`maxValue[x]`) allowed value. */
  readonly minValue: { readonly value: unknown } | undefined;
  readonly maxValue: { readonly value: unknown } | undefined;
  readonly maxLength: number | undefined;
  readonly requiredValueSet: string | undefined;
  readonly slicing: Slicing | undefined;
  readonly invariants: readonly Invariant[];
}

export interface TypeConstraint {
  readonly code: string;
  readonly profiles: readonly string[];
  readonly targetProfiles: readonly string[];
}

export interface Slicing {
  readonly discriminators: readonly { readonly type: string; readonly path: string }[];
  readonly rules: 'closed' | 'open' | 'openAtEnd';
  readonly isOrdered: boolean;
}

export interface Invariant {
  readonly key: string;
  readonly severity: 'error' | 'warning';
  readonly human: string;
  readonly expression: string;
}

/** A stored profile, that is, a StructureDefinition that constrains a type. */
export interface StoredProfile {
  readonly url: string;
  readonly type: string;
  /** Canonical of the profile's base, which is an R4 type or another profile. */
  readonly base: string | undefined;
  readonly hasSnapshot: boolean;
  readonly elements: readonly ElementConstraint[];
}

/** Reads a StructureDefinition. Undefined if it constrains no type, as a logical model does not. */
export function storedProfileOf(definition: unknown): StoredProfile | undefined {
  if (!isObject(definition) || definition.kind === 'logical') return undefined;
  const { url, type, baseDefinition, snapshot, differential } = definition;
  if (typeof url !== 'string' || typeof type !== 'string') return undefined;
  const inSnapshot = elementsIn(snapshot);
  const hasSnapshot = inSnapshot.length > 0;
  const elements = (hasSnapshot ? inSnapshot : elementsIn(differential)).map(constraintOf);
  return { url, type, base: textOrNone(baseDefinition), hasSnapshot, elements };
}

const elementsIn = (view: unknown): readonly PlainObject[] => (isObject(view) ? objectsIn(view.element) : []);

function constraintOf(element: PlainObject): ElementConstraint {
  const path = textOrNone(element.path) ?? '';
  return {
    id: textOrNone(element.id) ?? path,
    path,
    min: typeof element.min === 'number' ? element.min : undefined,
    max: element.max === '*' ? Infinity : typeof element.max === 'string' ? Number(element.max) : undefined,
    types: objectsIn(element.type).map((type) => ({
      code: textOrNone(type.code) ?? '',
      profiles: textsIn(type.profile),
      targetProfiles: textsIn(type.targetProfile),
    })),
    fixed: choiceOf(element, 'fixed'),
    pattern: choiceOf(element, 'pattern'),
    minValue: choiceOf(element, 'minValue'),
    maxValue: choiceOf(element, 'maxValue'),
    maxLength: typeof element.maxLength === 'number' ? element.maxLength : undefined,
    requiredValueSet:
      isObject(element.binding) && element.binding.strength === 'required'
        ? textOrNone(element.binding.valueSet)
        : undefined,
    slicing: isObject(element.slicing) ? statedSlicingOf(element.slicing) : undefined,
    invariants: objectsIn(element.constraint).flatMap(invariantOf),
  };
}

function statedSlicingOf({ discriminator, rules, ordered }: PlainObject): Slicing {
  return {
    discriminators: objectsIn(discriminator).map(({ type, path }) => ({
      type: textOrNone(type) ?? '',
      path: textOrNone(path) ?? '$this',
    })),
    rules: rules === 'closed' || rules === 'openAtEnd' ? rules : 'open',
    isOrdered: ordered === true,
  };
}

function invariantOf({ key, severity, human, expression }: PlainObject): Invariant[] {
  if (typeof key !== 'string' || typeof expression !== 'string') return [];
  return [{ key, severity: severity === 'warning' ? 'warning' : 'error', human: textOrNone(human) ?? '', expression }];
}

function choiceOf(element: PlainObject, name: string): { readonly value: unknown } | undefined {
  const key = Object.keys(element).find((known) => known.startsWith(name) && /^[A-Z]/.test(known.slice(name.length)));
  return key === undefined ? undefined : { value: element[key] };
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];

export const textOrNone = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
