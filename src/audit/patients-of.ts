import { parseReference, type ReferenceTarget, referenceTargetOf } from '../fhir/reference';
import { isObject, objectsIn } from '../platform/json/plain-object';
import { type Steps } from '../platform/time/steps';

/** Maximum number of Patients in one record. The List of a ward may refer to hundreds. */
const MAX_PATIENTS = 10;

/** The number of values that one step visits. */
const VALUES_OF_STEP = 1000;

/**
 * Returns the ids of the Patients that a resource concerns: its own id for a Patient, else the Patients that it refers
 * to, at most ten. References are read as the search index reads them. So if a search by patient finds a resource, a
 * search of AuditEvents by the same patient finds the record of that resource.
 * @param baseUrl the server's base URL, without a trailing slash
 */
export function* patientsOf(type: string, id: string, value: unknown, baseUrl: string): Steps<readonly string[]> {
  if (type === 'Patient') return [id];
  const found = new Set<string>();
  const left: unknown[] = [value];
  for (let visited = 1; left.length > 0 && found.size < MAX_PATIENTS; visited++) {
    if (visited % VALUES_OF_STEP === 0) yield;
    const one = left.pop();
    const patient = patientIn(referenceTargetOf(one, baseUrl));
    if (patient !== undefined) found.add(patient);
    // The last value is pushed first, so that the values are visited in the order of the text.
    const inner = valuesIn(one);
    for (let index = inner.length - 1; index >= 0; index--) left.push(inner[index]);
  }
  return [...found];
}

/**
 * Returns the ids of the Patients that the parameters of a search name.
 * @param type the searched type; undefined for a search in all types
 */
export function patientsOfQuery(type: string | undefined, query: URLSearchParams, baseUrl: string): readonly string[] {
  const isId = (name: string): boolean => type === 'Patient' && name === '_id';
  return [...query]
    .filter(([name]) => isId(name) || /^(patient|subject)(:Patient)?$/.test(name))
    .flatMap(([, value]) => value.split(','))
    .slice(0, MAX_PATIENTS)
    .flatMap((text) => patientIn(parseReference(text.includes('/') ? text : `Patient/${text}`, baseUrl)) ?? []);
}

const patientIn = (target: ReferenceTarget | undefined): string | undefined =>
  target?.kind === 'local' && target.type === 'Patient' ? target.id : undefined;

/** Returns the values in a list or an object. A contained Patient is not stored under its id, so the id is left out. */
function valuesIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return [];
  const { contained, ...members } = value;
  return [...Object.values(members), ...objectsIn(contained).map((one) => ({ ...one, id: undefined }))];
}
