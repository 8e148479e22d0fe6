/** Maximum Patients in one record: a List of a ward may refer to hundreds. */
const MAX_PATIENTS = 10;

const REFERENCE =
  /"reference":"Patient\/([A-Za-z0-9\-.]{1,64})["/]|"resourceType":"Patient","id":"([A-Za-z0-9\-.]{1,64})"/g;

/**
 * Ids of the Patients that a stored resource concerns: itself, else those it refers to, at most ten. Stored texts have
 * no white space outside strings, and quotes inside strings are escaped, so parsing is not necessary.
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

/** Ids of the Patients in the `patient` or `subject` parameter of a search. */
export function patientsOfQuery(query: URLSearchParams): readonly string[] {
  const values = [...query]
    .filter(([name]) => /^(patient|subject)(:Patient)?$/.test(name))
    .flatMap(([, value]) => value.split(','));
  return values
    .slice(0, MAX_PATIENTS)
    .flatMap((value) => /^(?:Patient\/)?([A-Za-z0-9\-.]{1,64})$/.exec(value)?.[1] ?? []);
}
