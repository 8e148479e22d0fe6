import { readAsset } from '../../platform/assets';
import { memoized } from '../../platform/memoized';
import { elementsOfType, memberKey, once } from './definitions';

/** The element that a property of a JSON object holds: `valueQuantity` is the choice `value`, as a Quantity. */
export interface Property {
  readonly element: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly isSummary: boolean;
}

interface SummaryRecord {
  readonly name: string;
  readonly elements: readonly string[];
}

const summaries = once(() => {
  const { types } = JSON.parse(readAsset('fhir/definitions/summary-elements.json')) as {
    types: readonly SummaryRecord[];
  };
  return new Map(types.map(({ name, elements }) => [name, new Set(elements)]));
});

/** Elements in the summary of `type` (http://hl7.org/fhir/R4/search.html#summary); undefined if R4 defines none. */
export function summaryElementsOf(type: string): ReadonlySet<string> | undefined {
  return summaries().get(type);
}

/** The properties that an object of `type` can have in JSON; undefined for types that R4 does not define. */
export const propertiesOf = memoized((type): ReadonlyMap<string, Property> | undefined => {
  const elements = elementsOfType(type);
  if (elements === undefined) return undefined;
  const summary = summaryElementsOf(type);
  const table = new Map<string, Property>();
  for (const element of elements.values()) {
    const { name, isRequired, types } = element;
    const isSummary = summary?.has(name) ?? false;
    for (const of of types) table.set(memberKey(element, of), { element: name, type: of, isRequired, isSummary });
  }
  return table;
});
