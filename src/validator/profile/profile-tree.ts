import { type ElementConstraint } from './stored-profile';

/**
 * An element of a profile with its children and slices. The ids of elements, such as `Patient.identifier:mrn.system`,
 * determine the tree.
 */
export interface ProfileNode {
  readonly name: string;
  /** The constraints of the element itself. A profile and each of its bases may add some. */
  readonly constraints: ElementConstraint[];
  readonly children: Map<string, ProfileNode>;
  readonly slices: Map<string, ProfileNode>;
}

/** Builds the tree of a profile's elements. The constraints of its bases come first. */
export function profileTreeOf(type: string, elements: readonly ElementConstraint[]): ProfileNode {
  const root = nodeOf(type);
  for (const element of elements) {
    const [, ...steps] = element.id.split('.');
    let node = root;
    for (const step of steps) node = descend(node, step);
    node.constraints.push(element);
  }
  return root;
}

function descend(parent: ProfileNode, step: string): ProfileNode {
  const [name = '', slice] = step.split(':');
  const child = parent.children.get(name) ?? nodeOf(name);
  parent.children.set(name, child);
  if (slice === undefined) return child;
  const sliced = child.slices.get(slice) ?? nodeOf(name);
  child.slices.set(slice, sliced);
  return sliced;
}

const nodeOf = (name: string): ProfileNode => ({ name, constraints: [], children: new Map(), slices: new Map() });
