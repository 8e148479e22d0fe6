/** More than a resource of one chart names; a List of a ward keeps its record short. */
const MAX_PATIENTS = 10;

const REFERENCE =
  /"reference":"Patient\/([A-Za-z0-9\-.]{1,64})["/]|"resourceType":"Patient","id":"([A-Za-z0-9\-.]{1,64})"/g;

/**
 * Ids of the Patients that a stored resource is about: itself, else those that it refers to, at most ten. Stored texts have no white
 * space outside strings, and quotes inside of strings are escaped, so the text need not be parsed.
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

/** Ids of the Patients that a search names by `patient` or `subject`. */
export function patientsOfQuery(query: URLSearchParams): readonly string[] {
  const values = [...query]
    .filter(([name]) => /^(patient|subject)(:Patient)?$/.test(name))
    .flatMap(([, value]) => value.split(','));
  return values
    .slice(0, MAX_PATIENTS)
    .flatMap((value) => /^(?:Patient\/)?([A-Za-z0-9\-.]{1,64})$/.exec(value)?.[1] ?? []);
}
