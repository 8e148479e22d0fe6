import { type Constraint, ownElements, type StructureDefinition } from './own-elements';
import { printRecords } from './source-package';

interface Invariant {
  readonly key: string;
  readonly human: string;
  readonly expression: string;
  readonly on: string[];
}

const about =
  'Invariants of R4 with severity error, sorted by key. on: the types or elements that state them, [x] left out; types hand ' +
  'theirs down. expression is FHIRPath on one such element.';

/** Keeps each invariant once, at the type or element that states it. */
export function compactInvariants(definitions: readonly StructureDefinition[]): string {
  const invariants = new Map<string, Invariant>();
  for (const definition of definitions) {
    for (const { path, constraint = [] } of ownElements(definition)) {
      for (const stated of constraint) {
        if (stated.severity !== 'error' || stated.expression === undefined || !isStatedBy(definition.id, stated))
          continue;
        const { key, human, expression } = stated;
        const known = invariants.get(`${key} ${expression}`) ?? { key, human, expression, on: [] };
        invariants.set(`${key} ${expression}`, known);
        known.on.push(path.replace('[x]', ''));
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
