import { type Compartment } from '../../resource/compartment/compartments';
import { type QueryPart } from '../plan/query-parts';

/** The extension of `Bundle.entry.search` with the compartment parameter by which an entry belongs to the patient. */
const REASON_URL = 'urn:svc:compartment-parameter';
/**
 * The extension of `Bundle.entry.search` with the reference by which a resource was included, in the notation of
 * `_include`.
 */
const INCLUDED_URL = 'urn:svc:included-by';

/**
 * Maximum number of cached texts. There are few combinations of parameters. For further combinations, the text is made
 * each time.
 */
const MOST_REMEMBERED = 2_000;

/**
 * Prints why an entry is in the answer, from the ids of the parameters that link it. The result is text inside
 * `Bundle.entry.search`.
 */
export class Reasons {
  private readonly known = { match: new Map<string, string>(), include: new Map<string, string>() };

  /** @param referenceNames names of references such as `Observation:performer`, by parameter id */
  constructor(
    private readonly compartment: Compartment,
    private readonly referenceNames: () => ReadonlyMap<number, string>,
  ) {}

  /**
   * @param parameters comma-separated parameter ids; 0 for the patient itself
   * @returns `"extension":[…],` as JSON text
   */
  of(parameters: string, mode: QueryPart['mode']): string {
    const known = this.known[mode].get(parameters);
    if (known !== undefined) return known;
    const ids = parameters.split(',').map(Number);
    const extension =
      mode === 'match'
        ? sorted(ids.flatMap((id) => this.codesOf(id))).map((code) => ({ url: REASON_URL, valueCode: code }))
        : sorted(ids.flatMap((id) => this.referenceNames().get(id) ?? [])).map((name) => ({
            url: INCLUDED_URL,
            valueString: name,
          }));
    const text = extension.length === 0 ? '' : `"extension":${JSON.stringify(extension)},`;
    if (this.known[mode].size < MOST_REMEMBERED) this.known[mode].set(parameters, text);
    return text;
  }

  private codesOf(id: number): readonly string[] {
    return id === 0 ? ['_id'] : (this.compartment.codesById.get(id) ?? []);
  }
}

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();
