import { localKey, parseReference, referenceTargetOf } from '../../fhir/reference';
import { type ResourceReader } from '../../store/resource-reader';
import { type ChangedTexts } from './changed-texts';

/** A resource that a criterion needs. */
export interface WantedResource {
  readonly type: string;
  readonly id: string;
}

/**
 * The targets of references of a change, as far as they were read. Criteria are evaluated synchronously, so missing
 * targets are collected and read before the next evaluation.
 */
export class ReferenceLookup {
  readonly wanted = new Map<string, WantedResource>();
  /** Number of lookups of targets that were not read yet. */
  misses = 0;

  /** @param known texts by their keys (`Patient/p7`); undefined for resources that are not stored */
  constructor(
    private readonly change: ChangedTexts,
    private readonly known: ReadonlyMap<string, string | undefined>,
    private readonly baseUrl: string,
  ) {}

  /** @param reference a Reference, or its text */
  readonly resolve = (reference: unknown): string | undefined => {
    const target =
      typeof reference === 'string'
        ? parseReference(reference, this.baseUrl)
        : referenceTargetOf(reference, this.baseUrl);
    if (target?.kind === 'contained') return this.containedText(target.id);
    if (target?.kind !== 'local') return undefined;
    const { key, type, id } = target;
    if (!this.known.has(key)) {
      this.misses += 1;
      this.wanted.set(key, { type, id });
    }
    return this.known.get(key);
  };

  private containedText(id: string): string | undefined {
    const { current, previous } = this.change.values;
    for (const resource of [current, previous]) {
      const { contained } = (resource ?? {}) as { readonly contained?: readonly { readonly id?: unknown }[] };
      const found = contained?.find((one) => one.id === id);
      if (found !== undefined) return JSON.stringify(found);
    }
    return undefined;
  }
}

/** Texts of the stored resources by key (`Patient/p7`). A transaction sees its own writes. */
export async function textsOf(
  reader: ResourceReader,
  wanted: readonly WantedResource[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const type of new Set(wanted.map((one) => one.type))) {
    const ids = wanted.filter((one) => one.type === type).map(({ id }) => id);
    for (const { id, text } of await reader.findMany(type, ids)) texts.set(localKey(type, id), text);
  }
  return texts;
}
