/** The names of an element and its parents. `['Patient', 'name']` applies to one type only. */
type Path = readonly string[];

/** The named elements as a tree. A name without further names below it selects the whole element. */
type NameTree = Map<string, NameTree | 'whole'>;

/** The requested elements of a resource or, after a step down, those below one of its elements. */
export class ElementPaths {
  private constructor(
    private readonly kept: NameTree | 'whole',
    private readonly dropped: NameTree,
  ) {}

  static of(kept: readonly Path[], dropped: readonly Path[]): ElementPaths {
    return new ElementPaths(kept.length === 0 ? 'whole' : treeOf(kept), treeOf(dropped));
  }

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

/** The elements in `_elements`. They are read once for all resources of an answer, into one tree per type. */
export class AskedElements {
  private readonly trees = new Map<string, ElementPaths | undefined>();

  constructor(
    private readonly kept: readonly Path[],
    private readonly dropped: readonly Path[],
  ) {}

  /**
   * The requested elements of resources of `type`. Undefined if no path applies to the type, so that its resources stay
   * whole.
   */
  of(type: string): ElementPaths | undefined {
    if (!this.trees.has(type)) this.trees.set(type, this.pathsFor(type));
    return this.trees.get(type);
  }

  private pathsFor(type: string): ElementPaths | undefined {
    const [kept, dropped] = [pathsForType(type, this.kept), pathsForType(type, this.dropped)];
    return kept.length + dropped.length === 0 ? undefined : ElementPaths.of(kept, dropped);
  }
}

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
