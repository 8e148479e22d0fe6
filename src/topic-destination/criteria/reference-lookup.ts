import { type Versions } from '../../fhirpath/fhirpath';
import { localKey, parseReference, referenceTargetOf } from '../../fhir/reference';
import { type ResourceName } from '../../model/stored-resource';
import { type ResourceReader } from '../../store/resource-reader';

/**
 * The targets of references that `resolve()` returns, as far as they were read. Criteria are evaluated synchronously.
 * So targets that were not read yet are collected in `wanted`, and read before the next evaluation.
 */
export class ReferenceLookup {
  readonly wanted = new Map<string, ResourceName>();
  /** How many lookups found a target that was not read yet. */
  misses = 0;

  /** @param known texts of the targets that were read, by key (`Patient/p7`); undefined if not stored */
  constructor(
    private readonly change: Versions,
    private readonly known: ReadonlyMap<string, string | undefined>,
    private readonly baseUrl: string,
  ) {}

  /** @param reference a Reference, or the text of a reference */
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

/**
 * Returns the texts of those resources that are stored, by key (`Patient/p7`). Inside a transaction this includes its
 * own writes.
 */
export async function textsOf(
  reader: ResourceReader,
  wanted: readonly ResourceName[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const type of new Set(wanted.map((one) => one.type))) {
    const ids = wanted.filter((one) => one.type === type).map(({ id }) => id);
    for (const { id, text } of await reader.findMany(type, ids)) texts.set(localKey(type, id), text);
  }
  return texts;
}
