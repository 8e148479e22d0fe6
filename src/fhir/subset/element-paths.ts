import { memoized } from '../../platform/memoized';

/** The names of an element and its parents. `['Patient', 'name']` applies to one type only. */
type Path = readonly string[];

/** The named elements as a tree. A name without further names below it selects the whole element. */
type NameTree = Map<string, NameTree | 'whole'>;

/** The requested elements of a resource or, after a step down, those below one of its elements. */
export class ElementPaths {
  constructor(
    private readonly kept: NameTree | 'whole',
    private readonly dropped: NameTree,
  ) {}

  /**
   * The requested part of the element `name`: all of it, none of it, or parts. Undefined if no path names the element.
   */
  below(name: string): ElementPaths | 'all' | 'none' | undefined {
    const element = name.startsWith('_') ? name.slice(1) : name;
    const dropped = this.dropped.get(element);
    if (dropped === 'whole') return 'none';
    const kept = this.kept === 'whole' ? 'whole' : this.kept.get(element);
    if (kept === undefined) return undefined;
    return kept === 'whole' && dropped === undefined ? 'all' : new ElementPaths(kept, dropped ?? treeOf([]));
  }
}

/** The requested elements of resources of a type; all of them if no path applies to it. */
export type AskedElements = (type: string) => ElementPaths | 'all';

/** The elements in `_elements`. They are read once for all resources of an answer, into one tree per type. */
export const askedElements = (kept: readonly Path[], dropped: readonly Path[]): AskedElements =>
  memoized((type): ElementPaths | 'all' => {
    const [own, others] = [pathsForType(type, kept), pathsForType(type, dropped)];
    if (own.length + others.length === 0) return 'all';
    return new ElementPaths(own.length === 0 ? 'whole' : treeOf(own), treeOf(others));
  });

const pathsForType = (type: string, paths: readonly Path[]): readonly Path[] =>
  paths
    .filter(([first = '']) => first === type || !/^[A-Z]/.test(first))
    .map((path) => (path[0] === type ? path.slice(1) : path));

function treeOf(paths: readonly Path[]): NameTree {
  const root: NameTree = new Map<string, NameTree | 'whole'>();
  for (const path of paths) addPath(root, path);
  return root;
}

function addPath(root: NameTree, path: Path): void {
  let tree = root;
  for (const [at, name] of path.entries()) {
    const known = tree.get(name);
    if (known === 'whole') return;
    const below = known ?? treeOf([]);
    tree.set(name, at === path.length - 1 ? 'whole' : below);
    tree = below;
  }
}
