import { type Constraint, type OwnElement, ownElements, type StructureDefinition } from './own-elements';
import { printRecords } from './source-package';

interface Invariant {
  readonly key: string;
  readonly human: string;
  readonly expression: string;
  readonly on: string[];
}

const about =
  'Invariants of R4 with severity error, sorted by key. on: the types or elements that state them, [x] left out; types hand ' +
  'theirs down. An invariant of one type of a choice is on its key (doseQuantity). expression is FHIRPath on one such element.';

/** Keeps each invariant once, at the type or element that states it. */
export function compactInvariants(definitions: readonly StructureDefinition[]): string {
  const invariants = new Map<string, Invariant>();
  const keep = ({ key, human, expression, severity }: Constraint, path: string): void => {
    if (severity !== 'error' || expression === undefined) return;
    const known = invariants.get(`${key} ${expression}`) ?? { key, human, expression, on: [] };
    invariants.set(`${key} ${expression}`, known);
    known.on.push(path);
  };
  const ofProfiles = rulesOfDataTypeProfiles(definitions);
  for (const definition of definitions) {
    for (const element of ownElements(definition)) {
      const { path, constraint = [] } = element;
      for (const stated of constraint) if (isStatedBy(definition.id, stated)) keep(stated, path.replace('[x]', ''));
      for (const [key, profile] of profilesOf(element)) {
        for (const stated of ofProfiles.get(profile) ?? []) keep(stated, key);
      }
    }
  }
  const records = [...invariants.values()].map((invariant) => ({ ...invariant, on: invariant.on.sort() }));
  const order = ({ key, on }: Invariant): string => `${key} ${on[0] ?? ''}`;
  return printRecords(
    { about },
    'invariants',
    records.sort((a, b) => (order(a) < order(b) ? -1 : 1)),
  );
}

function isStatedBy(id: string, { source }: Constraint): boolean {
  return source === undefined || source.endsWith(`/${id}`);
}

/** Constraints that profiles of data types, such as SimpleQuantity, add to their type, by canonical. */
function rulesOfDataTypeProfiles(
  definitions: readonly StructureDefinition[],
): ReadonlyMap<string, readonly Constraint[]> {
  const profiles = definitions.filter(({ kind, derivation }) => kind === 'complex-type' && derivation === 'constraint');
  return new Map(
    profiles.map(({ url, id, snapshot }) => [
      url,
      (snapshot?.element ?? [])
        .slice(0, 1)
        .flatMap(({ constraint = [] }) => constraint.filter((one) => isStatedBy(id, one))),
    ]),
  );
}

/** The profiles of an element's types, each with the path of the JSON key that has such a value. */
function profilesOf({ path, type = [] }: OwnElement): readonly (readonly [path: string, profile: string])[] {
  return type.flatMap(({ code, profile = [] }) => profile.map((url) => [path.replace('[x]', code), url] as const));
}
