/** Maximum number of Patients in one record. The List of a ward may refer to hundreds. */
const MAX_PATIENTS = 10;

const REFERENCE =
  /"reference":"Patient\/([A-Za-z0-9\-.]{1,64})["/]|"resourceType":"Patient","id":"([A-Za-z0-9\-.]{1,64})"/g;

/**
 * Returns the ids of the Patients that a stored resource concerns: its own id for a Patient, else the Patients that it
 * refers to, at most ten. A regular expression is enough: stored texts have no white space outside strings, and quotes
 * inside strings are escaped.
 */
export function patientsOf(type: string, id: string, text: string): readonly string[] {
  if (type === 'Patient') return [id];
  const found = new Set<string>();
  for (const [, referenced, native] of text.matchAll(REFERENCE)) {
    const patient = referenced ?? native;
    if (patient !== undefined && found.size < MAX_PATIENTS) found.add(patient);
  }
  return [...found];
}

/** Returns the ids of the Patients in the parameters `patient` and `subject` of a search. */
export function patientsOfQuery(query: URLSearchParams): readonly string[] {
  const values = [...query]
    .filter(([name]) => /^(patient|subject)(:Patient)?$/.test(name))
    .flatMap(([, value]) => value.split(','));
  return values
    .slice(0, MAX_PATIENTS)
    .flatMap((value) => /^(?:Patient\/)?([A-Za-z0-9\-.]{1,64})$/.exec(value)?.[1] ?? []);
}
