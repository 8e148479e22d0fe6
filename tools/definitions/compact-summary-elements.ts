import { printRecords, type SourceResource } from './source-package';

interface StructureDefinition extends SourceResource {
  readonly kind: string;
  readonly derivation?: string;
  readonly snapshot: { readonly element: readonly Element[] };
}

interface Element {
  readonly path: string;
  readonly isSummary?: boolean;
}

const about =
  'Which elements of a resource type, data type or backbone element belong to its summary, inherited ones included; ' +
  'of a choice its name without [x]. Types of which none does are left out.';

/** Keeps the element names of each type that `_summary=true` shows. */
export function compactSummaryElements(definitions: readonly StructureDefinition[]): string {
  const types = definitions
    .filter(({ kind, derivation }) => kind !== 'logical' && derivation !== 'constraint')
    .flatMap(({ snapshot }) => recordsOf(snapshot.element))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return printRecords({ about }, 'types', types);
}

function recordsOf(elements: readonly Element[]): { readonly name: string; readonly elements: readonly string[] }[] {
  const byParent = new Map<string, string[]>();
  for (const { path, isSummary = false } of elements) {
    const dot = path.lastIndexOf('.');
    if (!isSummary || dot < 0) continue;
    const parent = path.slice(0, dot);
    byParent.set(parent, [...(byParent.get(parent) ?? []), path.slice(dot + 1).replace('[x]', '')]);
  }
  return [...byParent].map(([name, names]) => ({ name, elements: names }));
}
