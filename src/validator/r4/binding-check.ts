import {
  type BoundValueSet,
  boundValueSets,
  isPrimitiveType,
  lineageOf,
  once,
} from '../../fhir/definitions/definitions';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { isObject, objectsIn, type PlainObject } from '../../platform/json/plain-object';
import { type Rest, type ValidationRun } from './validation-run';

export type ItemCheck = (item: unknown, run: ValidationRun) => void;

/** Checks a value that may be large. It is like {@link ItemCheck}, but may return unfinished work. */
export type ElementCheck = (item: unknown, run: ValidationRun) => Rest;

/** Maximum number of codes that a message lists. For a larger value set, the message names its URL. */
const LISTED_CODES = 24;

/** Codes that are checked by their syntax. HL7's package does not list currencies (ISO 4217). */
const SYNTAX: Readonly<Record<string, { readonly pattern: RegExp; readonly description: string }>> = {
  'Money.currency': { pattern: /^[A-Z]{3}$/, description: 'a currency code of ISO 4217, such as "EUR"' },
};

const setsByElement = once(
  () => new Map(boundValueSets().flatMap((set) => set.elements.map((path) => [path, set] as const))),
);

/** The code system of resource types. Modules add types to it. */
const RESOURCE_TYPES = 'http://hl7.org/fhir/resource-types';

/**
 * The check of the required binding of an element; undefined if the element has none.
 * @param owner the type that has the element
 * @param ownTypes resource types of this server that R4 does not define; a code may name these too
 */
export function bindingCheckOf(
  owner: string,
  element: string,
  type: string,
  ownTypes: readonly string[],
): ItemCheck | undefined {
  for (const ancestor of lineageOf(owner)) {
    const path = `${ancestor}.${element}`;
    const syntax = SYNTAX[path];
    if (syntax !== undefined)
      return (item, run) => {
        if (typeof item === 'string' && !syntax.pattern.test(item))
          run.report('code-invalid', `It must be ${syntax.description}.`);
      };
    const set = setsByElement().get(path);
    if (set !== undefined) return codeCheck(new CodeSet(set.url, withTypes(set.codes, ownTypes)), type);
  }
  return undefined;
}

function withTypes(set: BoundValueSet['codes'], ownTypes: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const codes = new Map(Object.entries(set));
  const types = codes.get(RESOURCE_TYPES);
  return types === undefined ? codes : codes.set(RESOURCE_TYPES, [...types, ...ownTypes]);
}

/** The codes of a value set of which all codes are known. */
export class CodeSet {
  private readonly systems: ReadonlyMap<string, ReadonlySet<string>>;
  private readonly codes: ReadonlySet<string>;

  /** @param codes the codes of each system */
  constructor(
    readonly url: string,
    codes: ReadonlyMap<string, readonly string[]>,
  ) {
    this.systems = new Map([...codes].map(([system, own]) => [system, new Set(own)]));
    this.codes = new Set([...codes.values()].flat());
  }

  hasCode(code: string): boolean {
    return this.codes.has(code);
  }

  hasCoding(system: unknown, code: unknown): boolean {
    return typeof code === 'string' && typeof system === 'string' && this.systems.get(system)?.has(code) === true;
  }

  /** Whether a code, Coding, CodeableConcept or Quantity has a code of the set. */
  holds(value: unknown): boolean {
    if (typeof value === 'string') return this.hasCode(value);
    if (!isObject(value)) return false;
    const codings = Array.isArray(value.coding) ? objectsIn(value.coding) : [value];
    return codings.some(({ system, code }) => this.hasCoding(system, code));
  }

  get description(): string {
    return this.codes.size <= LISTED_CODES ? [...this.codes].join(', ') : `those of ${this.url}`;
  }

  get codingDescription(): string {
    return `a code of ${[...this.systems.keys()].join(', ')}: ${this.description}`;
  }

  /** A sentence with the code that was probably meant. Empty if no code is near, or if the system is wrong. */
  hintFor(codes: readonly unknown[]): string {
    for (const code of codes) {
      // For symbols such as "=<", the nearest code would be a guess.
      if (typeof code !== 'string' || this.codes.has(code) || !/[a-z]{2}/i.test(code)) continue;
      const near = nearestCode(code.toLowerCase().replace(/[\s_]/g, '-'), this.codes) ?? nearestCode(code, this.codes);
      if (near !== undefined) return didYouMean(near);
    }
    return '';
  }
}

/** The check of a code, Coding, CodeableConcept or Quantity against a value set. */
export function codeCheck(set: CodeSet, type: string): ItemCheck | undefined {
  if (isPrimitiveType(type)) {
    return (item, run) => {
      if (typeof item !== 'string' || set.hasCode(item)) return;
      const shown = item.slice(0, 64);
      const hint = set.hintFor([item]);
      run.report('code-invalid', `"${shown}" is not one of the allowed codes: ${set.description}.${hint}`);
    };
  }
  if (type === 'CodeableConcept') {
    return (item, run) => {
      if (!isObject(item) || hasOnlyExtensions(item)) return;
      const codings = objectsIn(item.coding);
      if (codings.some(({ system, code }) => set.hasCoding(system, code))) return;
      const hint = set.hintFor(codings.map(({ code }) => code));
      run.report('code-invalid', `One coding must have ${set.codingDescription}.${hint}`);
    };
  }
  if (type !== 'Coding' && type !== 'Quantity') return undefined;
  return (item, run) => {
    if (isObject(item) && !hasOnlyExtensions(item) && !set.hasCoding(item.system, item.code))
      run.report('code-invalid', `It must have ${set.codingDescription}.${set.hintFor([item.code])}`);
  };
}

/** An extension such as `data-absent-reason` may replace the value, so an object without a value is accepted. */
const hasOnlyExtensions = (item: PlainObject): boolean =>
  Object.keys(item).every((key) => key === 'extension' || key === 'id');
