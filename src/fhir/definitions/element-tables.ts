import { memoized } from '../../platform/memoized';
import {
  type ElementDefinition,
  elementsOfType,
  isPrimitiveType,
  isR4ResourceType,
  memberKey,
  parseElements,
} from './definitions';

/**
 * Types that R4 does not define, in the notation of elements.json: a resource type and its nested elements, named by
 * path. They may use two types that R4 lacks: `NativeReference(User)` for `{resourceType, id}`, and `Any`.
 */
export type OwnShapes = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The key of {@link OTHER_MEMBERS}. No JSON member of a resource has this name. */
const OTHERS = '*';

/**
 * An entry for the elements of a type. It allows members that the type does not name. Spread it into these elements.
 */
export const OTHER_MEMBERS = { [OTHERS]: '0..1 Any' } as const;

/** Returns the elements of a type by their names in expressions; undefined if the type may have any member. */
export type NamedElements = (type: string) => ReadonlyMap<string, ElementDefinition> | undefined;

/** The elements of R4's types and of the types that modules register. */
export class ElementTables {
  private readonly own: ReadonlyMap<string, ReadonlyMap<string, ElementDefinition>>;

  /**
   * @param openTypes resource types without a shape, which allow any content
   * @param nativeTypes native types, to which rules of FHIR's Element do not apply
   */
  constructor(
    readonly shapes: OwnShapes = {},
    private readonly openTypes: ReadonlySet<string> = new Set(),
    private readonly nativeTypes: ReadonlySet<string> = new Set(),
  ) {
    this.own = new Map(
      Object.entries(shapes).map(([type, { [OTHERS]: _others, ...named }]) => {
        const inherited = elementsOfType(type.includes('.') ? 'Element' : 'DomainResource') ?? [];
        return [type, new Map([...inherited, ...parseElements(named)])];
      }),
    );
  }

  /** Whether the type, which R4 does not define, allows members that it does not name. */
  hasOtherMembers(type: string): boolean {
    return this.shapes[type]?.[OTHERS] !== undefined;
  }

  elementsOf(type: string): ReadonlyMap<string, ElementDefinition> | undefined {
    return this.own.get(type) ?? elementsOfType(type);
  }

  /**
   * The elements that an expression about resources of this type may name. In a type of a module these are JSON
   * members, such as `sizeQuantity`: of its choices, the FHIRPath library knows only the value of an extension.
   */
  namedIn(resourceType: string): NamedElements {
    return this.own.has(resourceType) ? this.membersOf : elementsOfType;
  }

  private readonly membersOf: NamedElements = memoized((type) => {
    const elements = this.elementsOf(type);
    if (elements === undefined || type === 'Resource' || this.hasOtherMembers(type)) return undefined;
    const members = [...elements.values()].map((element) => element.types.map((of) => jsonMembersOf(element, of)));
    return new Map([...members.flat(2), ...(type === 'Extension' ? elements : [])]);
  });

  isResource(type: string): boolean {
    return isR4ResourceType(type) || (!type.includes('.') && this.own.has(type));
  }

  /** Whether the type, or the type of a nested element, is native. */
  isNative(type: string): boolean {
    return this.nativeTypes.has(type.replace(/\..*/, ''));
  }

  /** The resource types that R4 does not define. */
  get ownTypes(): readonly string[] {
    return [...[...this.own.keys()].filter((type) => !type.includes('.')), ...this.openTypes];
  }

  isOpen(type: string): boolean {
    return this.openTypes.has(type);
  }
}

/** The JSON members that hold an element with one of its types: for a primitive also its sibling `_name`. */
function jsonMembersOf(element: ElementDefinition, type: string): (readonly [string, ElementDefinition])[] {
  const name = memberKey(element, type);
  const member = (key: string, of: string): readonly [string, ElementDefinition] => [
    key,
    { ...element, name: key, isChoice: false, types: [of] },
  ];
  return [member(name, type), ...(isPrimitiveType(type) ? [member(`_${name}`, 'Element')] : [])];
}
