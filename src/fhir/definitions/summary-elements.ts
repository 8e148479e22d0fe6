import { readAsset } from '../../platform/assets';
import { elementsOf } from './definitions';

/** The element of its type that a property of a JSON object is: `valueQuantity` is the choice `value`, as a Quantity. */
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

let summaries: ReadonlyMap<string, ReadonlySet<string>> | undefined;
const tables = new Map<string, ReadonlyMap<string, Property>>();

/** Elements of `type` that belong to its summary (http://hl7.org/fhir/R4/search.html#summary); undefined where none does. */
export function summaryElementsOf(type: string): ReadonlySet<string> | undefined {
  summaries ??= new Map(
    (JSON.parse(readAsset('fhir/definitions/summary-elements.json')) as { types: readonly SummaryRecord[] }).types.map(
      ({ name, elements }) => [name, new Set(elements)],
    ),
  );
  return summaries.get(type);
}

/** The properties that an object of `type` can have in JSON; undefined for types that R4 does not know. */
export function propertiesOf(type: string): ReadonlyMap<string, Property> | undefined {
  const known = tables.get(type);
  if (known !== undefined) return known;
  const elements = elementsOf(type);
  if (elements === undefined) return undefined;
  const summary = summaryElementsOf(type);
  const table = new Map<string, Property>();
  for (const { name, isChoice, isRequired, types } of elements.values()) {
    for (const elementType of types) {
      const property = isChoice ? `${name}${elementType.charAt(0).toUpperCase()}${elementType.slice(1)}` : name;
      table.set(property, { element: name, type: elementType, isRequired, isSummary: summary?.has(name) ?? false });
    }
  }
  tables.set(type, table);
  return table;
}
