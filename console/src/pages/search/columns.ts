/** A column of a result table: its heading, and the text for a resource. */
export interface ResultColumn {
  readonly key: string;
  readonly label: string;
  readonly textOf: (resource: Readonly<Record<string, unknown>>) => string;
}

const MOST_COLUMNS = 5;

/**
 * The most informative members of a resource, in the order of their columns. Of alternative names, the first that
 * exists is shown.
 */
const CANDIDATES: readonly (readonly [label: string, ...members: readonly string[]])[] = [
  ['Name', 'name', 'userName', 'title', 'display'],
  [
    'What',
    'code',
    'medicationCodeableConcept',
    'vaccineCode',
    'type',
    'medicationReference',
    'engine',
    'grant_types',
    'kind',
  ],
  [
    'Value',
    'value',
    'valueQuantity',
    'valueCodeableConcept',
    'valueString',
    'valueInteger',
    'valueBoolean',
    'valueDateTime',
    'valuePeriod',
    'total',
  ],
  ['Status', 'status', 'clinicalStatus', 'lifecycleStatus'],
  ['Birth date', 'birthDate'],
  ['Active', 'active'],
  ['Inactive', 'inactive'],
  [
    'Date',
    'effectiveDateTime',
    'effectivePeriod',
    'effectiveInstant',
    'onsetDateTime',
    'performedDateTime',
    'performedPeriod',
    'period',
    'occurrenceDateTime',
    'authoredOn',
    'date',
    'issued',
    'recordedDate',
    'recorded',
    'created',
    'start',
    'billablePeriod',
  ],
  ['Of', 'subject', 'patient', 'beneficiary', 'user', 'target', 'topic'],
  ['Identifier', 'identifier', 'url', 'email'],
];

/** Columns with a value in at least one resource, except the id and the time of the last update. */
export function columnsOf(resources: readonly Readonly<Record<string, unknown>>[]): readonly ResultColumn[] {
  return CANDIDATES.filter(([, ...members]) => resources.some((one) => firstOf(one, members) !== ''))
    .slice(0, MOST_COLUMNS)
    .map(([label, ...members]) => ({ key: label, label, textOf: (resource) => firstOf(resource, members) }));
}

function firstOf(resource: Readonly<Record<string, unknown>>, members: readonly string[]): string {
  for (const member of members) {
    const text = shortText(resource[member]);
    if (text !== '') return text;
  }
  return '';
}

const LONGEST = 200;

/** Matches an instant. The table omits its seconds and zone, which the JSON shows. */
const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::[\d.]+)?(?:Z|[+-]\d\d:\d\d)?$/;

/** A short text for a value of a resource; empty if it has none. */
export function shortText(value: unknown): string {
  if (Array.isArray(value)) {
    const texts = value
      .slice(0, 3)
      .map(shortText)
      .filter((text) => text !== '');
    return cut(`${texts.join(', ')}${value.length > 3 ? ` and ${value.length - 3} more` : ''}`);
  }
  if (typeof value === 'string') return cut(value.replace(INSTANT, '$1 $2'));
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  return cut(textOfObject(value as Readonly<Record<string, unknown>>));
}

function textOfObject(value: Readonly<Record<string, unknown>>): string {
  const of = (member: string): string => shortText(value[member]);
  const own = of('text') || of('display') || of('formatted');
  if (own !== '') return own;
  // A concept has a list of codings. The first coding with a text is shown.
  if (Array.isArray(value['coding'])) return value['coding'].map(shortText).find((text) => text !== '') ?? '';
  const person = [namesOf(value['given']) || of('givenName'), of('family') || of('familyName')]
    .filter((text) => text !== '')
    .join(' ');
  if (person !== '') return person;
  if (value['start'] !== undefined || value['end'] !== undefined) return `${of('start')} – ${of('end')}`.trim();
  if (value['value'] !== undefined) return `${of('value')} ${of('unit') || of('code') || of('currency')}`.trim();
  if (typeof value['resourceType'] === 'string' && typeof value['id'] === 'string')
    return `${value['resourceType']}/${value['id']}`;
  return of('reference') || of('code') || of('id');
}

const namesOf = (given: unknown): string =>
  Array.isArray(given) ? given.filter((name) => typeof name === 'string').join(' ') : shortText(given);

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
