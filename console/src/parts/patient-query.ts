/** Conditions of a patient search, each with its FHIR parameter. */
export interface PatientQuery {
  readonly name: readonly string[];
  readonly identifier: readonly string[];
  readonly birthdate: readonly string[];
  readonly id: readonly string[];
}

const ISO_DATE = /^\d{4}-\d{2}(?:-\d{2})?$/;
/** A date such as `3.2.1980`, with the day first. */
const DOTTED_DATE = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;
const YEAR = /^(?:18|19|20)\d{2}$/;
const RESOURCE = /^Patient\/([A-Za-z0-9.-]{1,64})$/;

/**
 * Parses one line as people write it: `rivera 1980-02-03`, `Rivera, Ana`, `MRN|123`, `Patient/p7`. A word with `|` or a
 * digit is an identifier; a date or year is the birth date; all other words are names.
 */
export function readSearchText(text: string): PatientQuery {
  const query = { name: [] as string[], identifier: [] as string[], birthdate: [] as string[], id: [] as string[] };
  for (const word of text.split(/[\s,;]+/)) {
    if (word === '') continue;
    const id = RESOURCE.exec(word)?.[1];
    const date = dateOf(word);
    if (id !== undefined) query.id.push(id);
    else if (date !== undefined) query.birthdate.push(date);
    else if (word.includes('|') || /\d/.test(word)) query.identifier.push(word);
    else query.name.push(word);
  }
  return query;
}

function dateOf(word: string): string | undefined {
  if (ISO_DATE.test(word) || YEAR.test(word)) return word;
  const [, day = '', month = '', year] = DOTTED_DATE.exec(word) ?? [];
  return year === undefined ? undefined : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/**
 * Escapes the characters that have a meaning in FHIR searches: a comma means "or", and `$` separates the parts of a
 * composite. `|` is not escaped, since it has a meaning in an identifier.
 */
const escaped = (value: string): string => value.replaceAll(/[\\,$]/g, '\\$&');

/** The parameters of `GET /fhir/Patient`; all conditions must hold. */
export function searchParametersOf({ name, identifier, birthdate, id }: PatientQuery): Record<string, string[]> {
  return withoutEmpty({
    name: name.map((word) => escaped(word).replaceAll('|', '\\|')),
    identifier: identifier.map(escaped),
    birthdate: [...birthdate],
    _id: [...id],
  });
}

/**
 * The parameters of a search for resources with a `patient`; all conditions must hold. A word with a digit and without
 * a system is here the patient's id.
 */
export function patientParametersOf(query: PatientQuery): Record<string, string[]> {
  const identifiers = query.identifier.filter((word) => word.includes('|'));
  const ids = query.identifier.filter((word) => !word.includes('|'));
  const { name = [], identifier = [], birthdate = [] } = searchParametersOf({ ...query, identifier: identifiers });
  return withoutEmpty({
    patient: [...query.id, ...ids].map((id) => `Patient/${escaped(id)}`),
    'patient.name': name,
    'patient.identifier': identifier,
    'patient.birthdate': birthdate,
  });
}

const withoutEmpty = (parameters: Record<string, string[]>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(parameters).filter(([, values]) => values.length > 0));

export const isEmptyQuery = (query: PatientQuery): boolean =>
  Object.values(query).every((values) => values.length === 0);
