import { type ElementDefinition, elementsOfType, isR4ResourceType, parseElements } from './definitions';

/**
 * Types that R4 does not know, in the notation of elements.json: a resource type and its nested elements, which are named by
 * their path. Two types stand for what R4 has not: `NativeReference(User)` for `{resourceType, id}`, and `Any`.
 */
export type OwnShapes = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The key of {@link OTHER_MEMBERS}: no JSON member of a resource is called so. */
const OTHERS = '*';

/** Spread into the elements of an own type, it lets through members that they do not name. */
export const OTHER_MEMBERS = { [OTHERS]: '0..1 Any' } as const;

/** The elements of the types of R4 and of those that modules bring. */
export class ElementTables {
  private readonly own: ReadonlyMap<string, ReadonlyMap<string, ElementDefinition>>;

  /**
   * @param openTypes resource types without a shape: their content is open
   * @param nativeTypes types of the native style, to which rules of FHIR's Element do not apply
   */
  constructor(
    readonly shapes: OwnShapes = {},
    private readonly openTypes: ReadonlySet<string> = new Set(),
    private readonly nativeTypes: ReadonlySet<string> = new Set(),
  ) {
    this.own = new Map(
      Object.entries(shapes).map(([type, elements]) => [
        type,
        new Map([
          ...(elementsOfType(type.includes('.') ? 'Element' : 'DomainResource') ?? []),
          ...parseElements(withoutOthers(elements)),
        ]),
      ]),
    );
  }

  /** Whether members that an own type does not name are let through. */
  hasOtherMembers(type: string): boolean {
    return this.shapes[type]?.[OTHERS] !== undefined;
  }

  elementsOf(type: string): ReadonlyMap<string, ElementDefinition> | undefined {
    return this.own.get(type) ?? elementsOfType(type);
  }

  isResource(type: string): boolean {
    return isR4ResourceType(type) || (!type.includes('.') && this.own.has(type));
  }

  /** Whether the type, or the type that the nested element belongs to, is of this server's native style. */
  isNative(type: string): boolean {
    return this.nativeTypes.has(type.replace(/\..*/, ''));
  }

  /** The resource types that R4 does not know. */
  get ownTypes(): readonly string[] {
    return [...[...this.own.keys()].filter((type) => !type.includes('.')), ...this.openTypes];
  }

  isOpen(type: string): boolean {
    return this.openTypes.has(type);
  }
}

const withoutOthers = ({ [OTHERS]: _others, ...named }: OwnShapes[string]): OwnShapes[string] => named;
