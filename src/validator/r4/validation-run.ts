import { isObject, objectsIn, type PlainObject } from '../../platform/json/plain-object';
import { type ErrorIssue } from '../../platform/errors/service-error';
import { type Steps } from '../../platform/time/steps';

/** The codes of http://hl7.org/fhir/R4/valueset-issue-type.html that validation uses. */
export type IssueCode =
  'structure' | 'required' | 'value' | 'invariant' | 'code-invalid' | 'informational' | 'too-long';

/**
 * The remaining steps of work that has already begun; undefined if the work is done. Small work is done at once and
 * needs no generator, which would double its cost.
 */
export type Rest = Steps<void> | undefined;

/** Maximum number of issues in a result. For a body full of faults, a longer list does not help. */
const MAX_ISSUES = 100;

/** Members and items that are checked between two pauses; this takes about a millisecond. */
const VISITS_AT_ONCE = 512;

const NO_IDS: ReadonlyMap<string, string> = new Map();
const NO_URLS: readonly string[] = [];

/** The possible targets of references with `#`: a resource and the resources contained in it. */
class ContainerScope {
  /** The fragments, without `#`, that references and canonicals of the resource name. */
  readonly named = new Set<string>();
  /** Contained resources that refer to their container by `#`. */
  readonly namingContainer = new Set<unknown>();
  /**
   * Whether a reference names a contained resource that is missing. Then a contained resource without a reference to it
   * is not reported as a second fault.
   */
  hasBrokenReference = false;
  private typesById: ReadonlyMap<string, string> | undefined;
  private typesByUrl: ReadonlyMap<string, string> | undefined;

  constructor(
    readonly resource: PlainObject,
    readonly outer: ContainerScope | undefined,
  ) {}

  /** The type of each entry of a Bundle, by its fullUrl. */
  get entryTypes(): ReadonlyMap<string, string> {
    return (this.typesByUrl ??= entryTypesOf(this.resource));
  }

  /** The type of each contained resource, by its id. */
  get containedTypes(): ReadonlyMap<string, string> {
    return (this.typesById ??= containedTypesOf(this.resource.contained));
  }
}

/** The state of one validation: the present position, the issues found, and the present resource. */
export class ValidationRun {
  private found: ErrorIssue[] = [];
  /** Number of issues, with those that were left out beyond the limit. */
  count = 0;
  /** The innermost resource, which is the variable `%resource`. */
  resource: unknown;
  private readonly path: (string | number)[] = [];
  private scope: ContainerScope | undefined;
  private urls: string[] | undefined;
  private visits = 0;

  get issues(): readonly ErrorIssue[] {
    return this.found;
  }

  get isFull(): boolean {
    return this.found.length >= MAX_ISSUES;
  }

  /** The container of the present resource, or this resource itself. It is the variable `%rootResource`. */
  get rootResource(): unknown {
    return this.scope?.resource;
  }

  /** Whether the walk through a large resource should pause. It is called for each member and item. */
  isDue(): boolean {
    this.visits += 1;
    return this.visits % VISITS_AT_ONCE === 0;
  }

  /** Does some work for each item. Work that needs no pause is done at once; the rest is returned. */
  each<T>(items: readonly T[], work: (item: T, index: number) => Rest): Rest {
    for (let index = 0; index < items.length; index += 1) {
      const rest = work(items[index] as T, index);
      if (rest !== undefined || this.isDue()) return this.others(items, index + 1, rest, work);
    }
    return undefined;
  }

  private *others<T>(
    items: readonly T[],
    first: number,
    begun: Rest,
    work: (item: T, index: number) => Rest,
  ): Steps<void> {
    if (begun === undefined) yield;
    else yield* begun;
    for (let index = first; index < items.length; index += 1) {
      const rest = work(items[index] as T, index);
      if (rest !== undefined) yield* rest;
      else if (this.isDue()) yield;
    }
  }

  enter(step: string | number): void {
    this.path.push(step);
  }

  /** Leaves the present step. It is a property, so that it can be passed on to run after a {@link Rest}. */
  readonly leave = (): void => {
    this.path.pop();
  };

  report(code: IssueCode, diagnostics: string, severity: ErrorIssue['severity'] = 'error'): void {
    this.count += 1;
    if (!this.isFull) this.found.push({ severity, code, diagnostics, expression: printPath(this.path) });
  }

  /** Reports a rule that cannot be checked. */
  warn(diagnostics: string): void {
    this.report('informational', diagnostics, 'warning');
  }

  /** Runs a check, and returns its issues instead of reporting them. */
  *collect(check: Steps<void>): Steps<readonly ErrorIssue[]> {
    const { found, count } = this;
    this.found = [];
    yield* check;
    const collected = this.found;
    this.found = found;
    this.count = count;
    return collected;
  }

  /** Reports issues that {@link collect} returned. */
  add(issues: readonly ErrorIssue[]): void {
    this.count += issues.length;
    this.found.push(...issues.slice(0, Math.max(0, MAX_ISSUES - this.found.length)));
  }

  /** @param below steps from the present position to the place of the issue */
  reportAt(below: string | readonly (string | number)[], code: IssueCode, diagnostics: string): void {
    const { length } = this.path;
    this.path.push(...[below].flat());
    this.report(code, diagnostics);
    this.path.length = length;
  }

  /** Validates a resource that is not contained. `#` then means the resources contained in it. */
  inResource(resource: PlainObject, validate: () => Rest): Rest {
    return this.inScopeOf(resource, (scope) =>
      then(validate(), () => {
        this.reportUnnamed(scope);
      }),
    );
  }

  /**
   * Validates a resource like {@link inResource}, but does not report contained resources without a reference. These
   * were reported before.
   */
  inScopeOf(resource: PlainObject, validate: (scope: ContainerScope) => Rest): Rest {
    const [outerScope, outerResource] = [this.scope, this.resource];
    const scope = new ContainerScope(resource, outerScope);
    this.scope = scope;
    this.resource = resource;
    return then(validate(scope), () => {
      this.scope = outerScope;
      this.resource = outerResource;
    });
  }

  /** Validates a contained resource. `#` still means the resources contained in its container. */
  inContained(resource: unknown, validate: () => Rest): Rest {
    const outer = this.resource;
    this.resource = resource;
    return then(validate(), () => {
      this.resource = outer;
    });
  }

  /** Notes a reference, canonical or uri that begins with `#`. */
  noteFragment(text: string): void {
    if (text === '#') this.scope?.namingContainer.add(this.resource);
    else this.scope?.named.add(text.slice(1));
  }

  /**
   * Notes the url of an extension, so that the extension can later be checked by its definition, if that is stored.
   * Urls of nested extensions are relative and are left out.
   */
  noteExtension(url: unknown): void {
    if (typeof url === 'string' && url.includes(':')) (this.urls ??= []).push(url);
  }

  get extensionUrls(): readonly string[] {
    return this.urls ?? NO_URLS;
  }

  noteBrokenReference(): void {
    if (this.scope !== undefined) this.scope.hasBrokenReference = true;
  }

  get containedTypes(): ReadonlyMap<string, string> {
    return this.scope?.containedTypes ?? NO_IDS;
  }

  get hasContained(): boolean {
    return this.scope?.resource.contained !== undefined;
  }

  /** The type of the entry with this fullUrl in the Bundle around the resource. */
  entryTypeOf(fullUrl: string): string | undefined {
    return this.scope?.outer?.entryTypes.get(fullUrl);
  }

  /** Checks invariant dom-3: reports contained resources to which no reference leads. */
  private reportUnnamed({ resource, named, namingContainer, hasBrokenReference }: ContainerScope): void {
    const { contained } = resource;
    if (!Array.isArray(contained) || hasBrokenReference) return;
    contained.forEach((inner: unknown, index) => {
      if (!isObject(inner) || typeof inner.id !== 'string') return;
      if (named.has(inner.id) || namingContainer.has(inner)) return;
      this.reportAt(
        ['contained', index],
        'invariant',
        `dom-3: nothing refers to "#${inner.id.slice(0, 64)}". Refer to it, or leave the contained resource out.`,
      );
    });
  }
}

/** Runs `next` after the remaining steps of `rest`. Returns the steps that still remain. */
export function then(rest: Rest, next: () => void): Rest {
  if (rest !== undefined) return chained(rest, next);
  next();
  return undefined;
}

function* chained(rest: Steps<void>, next: () => void): Steps<void> {
  yield* rest;
  next();
}

/** Prints a path as FHIRPath with indexes: `Patient.name[0].given[1]`. */
export function printPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`;
  return text;
}

function entryTypesOf({ resourceType, entry }: PlainObject): ReadonlyMap<string, string> {
  if (resourceType !== 'Bundle') return NO_IDS;
  const types = new Map<string, string>();
  for (const { fullUrl, resource } of objectsIn(entry)) {
    const type = isObject(resource) ? resource.resourceType : undefined;
    if (typeof fullUrl === 'string' && typeof type === 'string') types.set(fullUrl, type);
  }
  return types;
}

function containedTypesOf(contained: unknown): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { id, resourceType } of objectsIn(contained)) {
    if (typeof id === 'string' && typeof resourceType === 'string') types.set(id, resourceType);
  }
  return types;
}
