/** Which elements are asked for, as paths; `['Patient', 'name']` is for one type. */
export interface AskedElements {
  readonly elements: readonly (readonly string[])[];
  readonly without: readonly (readonly string[])[];
}

/** A step down the asked elements. */
export class ElementPaths {
  constructor(
    private readonly kept: readonly (readonly string[])[] | 'all',
    private readonly dropped: readonly (readonly string[])[],
  ) {}

  /** What is asked of the element `name`: all of it, none of it, or parts; undefined when nothing names it. */
  below(name: string): ElementPaths | 'all' | 'none' | undefined {
    const kept = this.kept === 'all' ? 'all' : stepsBelow(this.kept, name);
    const dropped = stepsBelow(this.dropped, name);
    if (dropped.some((path) => path.length === 0)) return 'none';
    if (kept !== 'all' && kept.length === 0) return undefined;
    const isWhole = kept === 'all' || kept.some((path) => path.length === 0);
    if (isWhole) return dropped.length === 0 ? 'all' : new ElementPaths('all', dropped);
    return new ElementPaths(kept, dropped);
  }
}

/** The paths that hold for resources of `type`; undefined when nothing is asked of them, so that they stay whole. */
export function pathsFor(type: string, { elements, without }: AskedElements): ElementPaths | undefined {
  const kept = ofType(type, elements);
  const dropped = ofType(type, without);
  if (kept.length === 0 && dropped.length === 0) return undefined;
  return new ElementPaths(kept.length === 0 ? 'all' : kept, dropped);
}

/** A path may begin with a type: it then is for resources of that type alone. */
const ofType = (type: string, paths: readonly (readonly string[])[]): (readonly string[])[] =>
  paths
    .filter(([first = '']) => !/^[A-Z]/.test(first) || first === type)
    .map((path) => (path[0] === type ? path.slice(1) : path));

const stepsBelow = (paths: readonly (readonly string[])[], name: string): (readonly string[])[] => {
  const plain = name.replace(/^_/, '');
  return paths.filter(([first]) => first === plain).map((path) => path.slice(1));
};
