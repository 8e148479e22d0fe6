import { ownElements, type StructureDefinition } from './own-elements';
import { printRecords, type SourceResource } from './source-package';

export interface ValueSet extends SourceResource {
  readonly url: string;
  readonly compose?: { readonly include: readonly Include[]; readonly exclude?: readonly unknown[] };
}

export interface CodeSystem extends SourceResource {
  readonly url: string;
  readonly content: string;
  readonly concept?: readonly Concept[];
}

interface Include {
  readonly system?: string;
  readonly concept?: readonly Concept[];
  readonly filter?: readonly unknown[];
  readonly valueSet?: readonly string[];
}

interface Concept {
  readonly code: string;
  readonly concept?: readonly Concept[];
}

const about =
  'Value sets of required bindings, sorted by id. elements: the bound elements, [x] left out. codes: system -> its codes. ' +
  'Left out: value sets that R4 does not list in full (media types, currencies, UCUM units, LOINC answer lists).';

/** Keeps the required R4 bindings whose value sets can be expanded from the package alone. */
export function compactBindings(
  definitions: readonly StructureDefinition[],
  valueSets: readonly ValueSet[],
  codeSystems: readonly CodeSystem[],
): string {
  const sets = new Map(valueSets.map((set) => [set.url, set]));
  const systems = new Map(codeSystems.map((system) => [system.url, system]));
  const bound = new Map<string, string[]>();
  for (const { path, binding } of definitions.flatMap(ownElements)) {
    if (binding?.strength !== 'required' || binding.valueSet === undefined) continue;
    const url = binding.valueSet.replace(/\|.*/, '');
    bound.set(url, [...(bound.get(url) ?? []), path.replace('[x]', '')]);
  }
  const records = [...bound].flatMap(([url, elements]) => {
    const set = sets.get(url);
    const codes = set === undefined ? undefined : expand(set, systems);
    return set === undefined || codes === undefined ? [] : [{ id: set.id, url, elements: elements.sort(), codes }];
  });
  return printRecords(
    { about },
    'valueSets',
    records.sort((a, b) => (a.id < b.id ? -1 : 1)),
  );
}

/** @returns undefined when a part of the value set is not in the package */
function expand(
  { compose }: ValueSet,
  systems: ReadonlyMap<string, CodeSystem>,
): Record<string, readonly string[]> | undefined {
  if (compose === undefined || compose.exclude !== undefined) return undefined;
  const codes: Record<string, readonly string[]> = {};
  for (const { system, concept, filter, valueSet } of compose.include) {
    if (system === undefined || filter !== undefined || valueSet !== undefined) return undefined;
    const whole = systems.get(system);
    const concepts = concept ?? (whole?.content === 'complete' ? whole.concept : undefined);
    if (concepts === undefined) return undefined;
    codes[system] = [...new Set([...(codes[system] ?? []), ...concepts.flatMap(codesOf)])];
  }
  return codes;
}

function codesOf({ code, concept = [] }: Concept): string[] {
  return [code, ...concept.flatMap(codesOf)];
}
