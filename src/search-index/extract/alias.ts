import { type Branch } from '../../fhirpath/fhirpath';
import { addTo } from '../../platform/lists-by-key';

/** The parts of a compiled parameter that decide whether other parameters can serve it. */
export interface Candidate {
  readonly code: string;
  readonly kind: string;
  readonly branches: readonly Branch[];
}

/**
 * The parameters whose rows serve another parameter. If this parameter is a narrowing, its rows count only if they
 * refer to `narrowedTo`.
 */
export interface Alias {
  readonly codes: readonly string[];
  readonly narrowedTo?: string;
}

/**
 * Finds parameters of one type that need no separate rows, because rows of other parameters hold the same values. These
 * are equal parameters, unions of others (`combo-code`), and narrowings to one target type (`patient` of `subject`).
 * This saves an eighth of the rows. The server's own parameters never serve others, so that adding one never moves the
 * rows of another.
 * @param standard HL7's parameters in a fixed order: of equal ones, the first has the rows
 */
export function findAliases(standard: readonly Candidate[], own: readonly Candidate[]): ReadonlyMap<string, Alias> {
  const aliases = new Map<string, Alias>();
  const owners = new Map<string, Candidate[]>();
  const isNarrowing = (candidate: Candidate): boolean => narrowedTypeOf(candidate) !== undefined;
  // Parameters with fewer paths come first, so the parts of a union come before the union. Narrowings come last.
  const bySize = [...standard].sort((a, b) => a.branches.length - b.branches.length);
  for (const candidate of [...bySize.filter((one) => !isNarrowing(one)), ...bySize.filter(isNarrowing)]) {
    const alias = aliasOf(candidate, owners);
    if (alias !== undefined) aliases.set(candidate.code, alias);
    else for (const path of pathsByKind(candidate)) addTo(owners, path, candidate);
  }
  for (const candidate of own) {
    const alias = aliasOf(candidate, owners);
    if (alias !== undefined) aliases.set(candidate.code, alias);
  }
  return aliases;
}

/** The parameters that have rows, by each path of their expressions. */
type Owners = ReadonlyMap<string, readonly Candidate[]>;

function aliasOf(candidate: Candidate, owners: Owners): Alias | undefined {
  return narrowingOf(candidate, owners) ?? unionOf(pathsByKind(candidate), owners);
}

function narrowingOf(candidate: Candidate, owners: Owners): Alias | undefined {
  const narrowedTo = narrowedTypeOf(candidate);
  if (narrowedTo === undefined) return undefined;
  const branches = candidate.branches.map(({ steps, type }) => ({ steps: steps.slice(0, -1), type }));
  const union = unionOf(pathsByKind({ ...candidate, branches }), owners);
  return union && { ...union, narrowedTo };
}

/** The type T, if all alternatives of an expression end in `where(resolve() is T)`. */
function narrowedTypeOf({ branches }: Candidate): string | undefined {
  const [type, ...others] = new Set(branches.map(({ steps }) => steps.at(-1)?.resolvesTo));
  return others.length === 0 ? type : undefined;
}

/** Parameters whose paths together are exactly `paths`, larger ones first; undefined if there are none. */
function unionOf(paths: ReadonlySet<string>, owners: Owners): Alias | undefined {
  const open = new Set(paths);
  const codes: string[] = [];
  for (const path of paths) {
    if (!open.has(path)) continue;
    const fitting = owners.get(path)?.filter((owner) => [...pathsByKind(owner)].every((own) => paths.has(own)));
    const owner = fitting?.sort((a, b) => b.branches.length - a.branches.length)[0];
    if (owner === undefined) return undefined;
    for (const own of pathsByKind(owner)) open.delete(own);
    codes.push(owner.code);
  }
  return { codes };
}

/**
 * The paths of a parameter as texts; equal texts reach the same values. A text includes the kind, because the kind
 * decides which rows the values give.
 */
function pathsByKind({ kind, branches }: Candidate): ReadonlySet<string> {
  return new Set(branches.map(({ steps }) => `${kind} ${steps.map(({ text }) => text).join('.')}`));
}
