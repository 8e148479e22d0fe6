import { type SourceResource } from './source-package';

export interface StructureDefinition extends SourceResource {
  readonly url: string;
  readonly kind: string;
  readonly derivation?: string;
  /** Absent in a few profiles. */
  readonly snapshot?: { readonly element: readonly OwnElement[] };
}

export interface OwnElement {
  readonly path: string;
  readonly base: { readonly path: string };
  readonly binding?: { readonly strength: string; readonly valueSet?: string };
  readonly constraint?: readonly Constraint[];
  readonly type?: readonly { readonly code: string; readonly profile?: readonly string[] }[];
}

export interface Constraint {
  readonly key: string;
  readonly severity: string;
  readonly human: string;
  readonly expression?: string;
  /** Canonical of the definition that states the constraint; absent if this definition states it. */
  readonly source?: string;
}

/** The elements that a type itself defines, without those that it inherits. Profiles and logical models define none. */
export function ownElements({ kind, derivation, snapshot }: StructureDefinition): readonly OwnElement[] {
  if (kind === 'logical' || derivation === 'constraint') return [];
  return (snapshot?.element ?? []).filter(({ path, base }) => base.path === path);
}
