import { type Capabilities } from '../../parts/capabilities';

export interface TypeWords {
  /** Kind by name: token, string, reference … */
  readonly kinds: ReadonlyMap<string, string>;
  readonly includes: readonly string[];
  readonly revIncludes: readonly string[];
}

/** The names that a search may use, from `/metadata`. */
export interface Vocabulary {
  readonly types: ReadonlyMap<string, TypeWords>;
  /** Target types of a reference; undefined: any type. */
  readonly targetsOf: (type: string, code: string) => readonly string[] | undefined;
}

/** A reference with more target types than this counts as a reference to any type. */
const MOST_TARGETS = 40;

export function vocabularyOf({ rest = [] }: Capabilities): Vocabulary {
  const types = new Map<string, TypeWords>();
  const targets = new Map<string, string[]>();
  for (const { resource = [], searchParam: common = [] } of rest) {
    for (const { type, searchParam = [], searchInclude = [], searchRevInclude = [] } of resource) {
      const kinds = new Map([...searchParam, ...common].map(({ name, type: kind }) => [name, kind]));
      types.set(type, { kinds, includes: searchInclude, revIncludes: searchRevInclude });
      // A reverse include of a type names a reference that may refer to that type.
      for (const reference of searchRevInclude) {
        const known = targets.get(reference);
        if (known === undefined) targets.set(reference, [type]);
        else known.push(type);
      }
    }
  }
  return {
    types,
    targetsOf: (type, code) => {
      const found = targets.get(`${type}:${code}`) ?? [];
      return found.length > MOST_TARGETS ? undefined : found;
    },
  };
}
