import { memoized } from '../../platform/memoized';
import { type Compartment } from '../../resource/compartment/compartments';
import { type QueryPart } from '../plan/query-parts';

/** The extension of `Bundle.entry.search` with the compartment parameter by which an entry belongs to the patient. */
const REASON_URL = 'urn:svc:compartment-parameter';
/**
 * The extension of `Bundle.entry.search` with the reference by which a resource was included, in the notation of
 * `_include`.
 */
const INCLUDED_URL = 'urn:svc:included-by';

/** Maximum number of cached texts. There are few combinations of parameters. */
const MOST_REMEMBERED = 2_000;

/** Prints why an entry is in the answer, as text inside `Bundle.entry.search`. */
export class Reasons {
  private readonly texts = {
    match: memoized((parameters) => {
      const codes = idsIn(parameters).flatMap((id) => this.codesOf(id));
      return extensionText(sorted(codes).map((code) => ({ url: REASON_URL, valueCode: code })));
    }, MOST_REMEMBERED),
    include: memoized((parameters) => {
      const names = idsIn(parameters).flatMap((id) => this.referenceNames().get(id) ?? []);
      return extensionText(sorted(names).map((name) => ({ url: INCLUDED_URL, valueString: name })));
    }, MOST_REMEMBERED),
  };

  /** @param referenceNames names of references such as `Observation:performer`, by parameter id */
  constructor(
    private readonly compartment: Compartment,
    private readonly referenceNames: () => ReadonlyMap<number, string>,
  ) {}

  /** @returns `"extension":[…],` as JSON text, from the `parameters` of an entry */
  of(parameters: string, mode: QueryPart['mode']): string {
    return this.texts[mode](parameters);
  }

  private codesOf(id: number): readonly string[] {
    return id === 0 ? ['_id'] : (this.compartment.codesById.get(id) ?? []);
  }
}

const idsIn = (parameters: string): readonly number[] => parameters.split(',').map(Number);

const extensionText = (extension: readonly object[]): string =>
  extension.length === 0 ? '' : `"extension":${JSON.stringify(extension)},`;

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();
