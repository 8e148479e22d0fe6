import { canonicalKeysOf, referenceTargetOf } from '../../fhir/reference';
import { type RowWriter } from './extraction';

/**
 * Writes the rows of a reference parameter. Its values are references (relative or absolute), canonicals, and resources
 * that take the place of a reference. A reference to a contained resource has no key and gives no row.
 * http://hl7.org/fhir/R4/search.html#reference
 * @param tellsPatient whether a Patient found here is the one that the resource belongs to
 */
export function referenceRows(parameterId: number, tellsPatient = false): RowWriter {
  return (value, extraction) => {
    if (typeof value === 'string') {
      for (const key of canonicalKeysOf(value, extraction.baseUrl))
        extraction.addReference(extraction.hashes.ofTarget(key), parameterId);
      return;
    }
    const target = referenceTargetOf(value, extraction.baseUrl);
    if (target === undefined || target.kind === 'contained') return;
    const targetHash = extraction.hashes.ofTarget(target.key);
    extraction.addReference(targetHash, parameterId);
    if (tellsPatient && target.kind !== 'urn' && target.type === 'Patient') extraction.patientHash ||= targetHash;
  };
}
