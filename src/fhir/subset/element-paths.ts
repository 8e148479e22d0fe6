/** Names of elements as paths; `['Patient', 'name']` is for one type. */
type Path = readonly string[];

/** One element of the tree of names. */
interface Node {
  readonly children: Map<string, Node>;
  /** A name ends here: the whole element is asked for. */
  isKept: boolean;
  /** A name ends here or below. */
  leadsToKept: boolean;
  /** A name with a minus ends here: the element is left out. */
  isDropped: boolean;
  /** A name with a minus ends below. */
  leadsToDropped: boolean;
}

/** The elements of a resource that are asked for, and a step down to those of one element. */
export class ElementPaths {
  private constructor(
    private readonly node: Node,
    private readonly isWhole: boolean,
  ) {}

  static of(kept: readonly Path[], dropped: readonly Path[]): ElementPaths {
    const root = nodeOf();
    for (const path of kept) keep(root, path);
    for (const path of dropped) drop(root, path);
    return new ElementPaths(root, kept.length === 0);
  }

  /** The wanted part of the element `name`: all of it, none of it, or parts; undefined when nothing names it. */
  below(name: string): ElementPaths | 'all' | 'none' | undefined {
    const child = this.node.children.get(name.startsWith('_') ? name.slice(1) : name);
    if (child === undefined) return this.isWhole ? 'all' : undefined;
    if (child.isDropped) return 'none';
    const isWhole = this.isWhole || child.isKept;
    if (!isWhole && !child.leadsToKept) return undefined;
    return isWhole && !child.leadsToDropped ? 'all' : new ElementPaths(child, isWhole);
  }
}

/** The elements that `_elements` names, made once for all resources of an answer: a tree for each of their types. */
export class AskedElements {
  private readonly trees = new Map<string, ElementPaths | undefined>();

  constructor(
    private readonly kept: readonly Path[],
    private readonly dropped: readonly Path[],
  ) {}

  /** The paths that hold for resources of `type`; undefined when nothing is asked of them, so that they stay whole. */
  of(type: string): ElementPaths | undefined {
    if (!this.trees.has(type)) this.trees.set(type, this.treeOf(type));
    return this.trees.get(type);
  }

  private treeOf(type: string): ElementPaths | undefined {
    const [kept, dropped] = [ofType(type, this.kept), ofType(type, this.dropped)];
    return kept.length + dropped.length === 0 ? undefined : ElementPaths.of(kept, dropped);
  }
}

/** A path may begin with a type: it then is for resources of that type alone. */
const ofType = (type: string, paths: readonly Path[]): readonly Path[] =>
  paths
    .filter(([first = '']) => first === type || !/^[A-Z]/.test(first))
    .map((path) => (path[0] === type ? path.slice(1) : path));

const nodeOf = (): Node => ({
  children: new Map(),
  isKept: false,
  leadsToKept: false,
  isDropped: false,
  leadsToDropped: false,
});

function keep(root: Node, path: Path): void {
  const nodes = nodesOn(root, path);
  for (const node of nodes) node.leadsToKept = true;
  const last = nodes.at(-1);
  if (last !== undefined) last.isKept = true;
}

function drop(root: Node, path: Path): void {
  const nodes = nodesOn(root, path);
  const last = nodes.pop();
  for (const node of nodes) node.leadsToDropped = true;
  if (last !== undefined) last.isDropped = true;
}

/** The nodes of a path below the root. */
function nodesOn(root: Node, path: Path): Node[] {
  let node = root;
  return path.map((name) => {
    const child = node.children.get(name) ?? nodeOf();
    node.children.set(name, child);
    node = child;
    return child;
  });
}
