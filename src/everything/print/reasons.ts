import { memoized } from '../../platform/memoized';
import { type Compartment } from '../../resource/compartment/compartments';
import { ITSELF } from '../plan/entry-rows';
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

/**
 * Prints why an entry is in the answer, from the ids of the parameters that link it: comma-separated, with 0 for the
 * patient itself. The result is `"extension":[…],` as JSON text inside `Bundle.entry.search`, or an empty text.
 */
export type Reasons = Readonly<Record<QueryPart['mode'], (parameters: string) => string>>;

/** @param referenceNames names of references such as `Observation:performer`, by parameter id */
export const reasonsOf = ({ codesById }: Compartment, referenceNames: () => ReadonlyMap<number, string>): Reasons => ({
  match: memoized((parameters) => {
    const codes = namesOf(parameters, (id) => (id === ITSELF ? ['_id'] : (codesById.get(id) ?? [])));
    return extensionText(codes.map((code) => ({ url: REASON_URL, valueCode: code })));
  }, MOST_REMEMBERED),
  include: memoized((parameters) => {
    const known = referenceNames();
    const names = namesOf(parameters, (id) => known.get(id) ?? []);
    return extensionText(names.map((name) => ({ url: INCLUDED_URL, valueString: name })));
  }, MOST_REMEMBERED),
});

const namesOf = (parameters: string, of: (id: number) => string | readonly string[]): readonly string[] =>
  [...new Set(parameters.split(',').flatMap((id) => of(Number(id))))].sort();

const extensionText = (extension: readonly object[]): string =>
  extension.length === 0 ? '' : `"extension":${JSON.stringify(extension)},`;
