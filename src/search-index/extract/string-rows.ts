import { type Extraction, type RowWriter } from './extraction';
import { foldText } from './fold';
import { isObject } from '../../platform/json/plain-object';
import { visitEach } from '../../fhirpath/fhirpath';

/** The members of a HumanName and an Address that are searched; `use`, `type` and `period` are not. */
const partNames = [
  ...['family', 'given', 'prefix', 'suffix'],
  ...['line', 'city', 'district', 'state', 'postalCode', 'country', 'text'],
];

/**
 * Writes the rows of a string parameter: the text, or each part of a name or address.
 * http://hl7.org/fhir/R4/search.html#string
 */
export function stringRows(parameterId: number): RowWriter {
  const add = (text: unknown, extraction: Extraction): void => {
    if (typeof text !== 'string') return;
    const folded = foldText(text);
    if (folded !== '') extraction.addString(parameterId, folded);
  };
  return (value, extraction) => {
    if (!isObject(value)) {
      add(value, extraction);
      return;
    }
    for (const name of partNames) visitEach(value[name], add, extraction);
  };
}
