/** Element names as paths; `['Patient', 'name']` applies to one type. */
type Path = readonly string[];

/** The named elements as a tree. A name without further names selects the whole element. */
type NameTree = Map<string, NameTree | 'whole'>;

/** The requested elements of a resource, with a step down to those of one element. */
export class ElementPaths {
  private constructor(
    private readonly kept: NameTree | 'whole',
    private readonly dropped: NameTree,
  ) {}

  static of(kept: readonly Path[], dropped: readonly Path[]): ElementPaths {
    return new ElementPaths(kept.length === 0 ? 'whole' : treeOf(kept), treeOf(dropped));
  }

  /** The requested part of the element `name`: all of it, none of it, or parts; undefined if nothing names it. */
  below(name: string): ElementPaths | 'all' | 'none' | undefined {
    const element = name.startsWith('_') ? name.slice(1) : name;
    const dropped = this.dropped.get(element);
    if (dropped === 'whole') return 'none';
    const kept = this.kept === 'whole' ? 'whole' : this.kept.get(element);
    if (kept === undefined) return undefined;
    return kept === 'whole' && dropped === undefined ? 'all' : new ElementPaths(kept, dropped ?? treeOf([]));
  }
}

/** The elements in `_elements`, read once for all resources of an answer: one tree per type. */
export class AskedElements {
  private readonly trees = new Map<string, ElementPaths | undefined>();

  constructor(
    private readonly kept: readonly Path[],
    private readonly dropped: readonly Path[],
  ) {}

  /** The paths for resources of `type`; undefined if none applies, so that they stay whole. */
  of(type: string): ElementPaths | undefined {
    if (!this.trees.has(type)) this.trees.set(type, this.pathsFor(type));
    return this.trees.get(type);
  }

  private pathsFor(type: string): ElementPaths | undefined {
    const [kept, dropped] = [pathsForType(type, this.kept), pathsForType(type, this.dropped)];
    return kept.length + dropped.length === 0 ? undefined : ElementPaths.of(kept, dropped);
  }
}

/** A path may begin with a type; then it applies to that type only. */
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
