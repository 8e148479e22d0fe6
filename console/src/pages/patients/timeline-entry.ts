import { membersOf } from '../../../../src/platform/json/json-members';

/** The part of a resource that the timeline keeps; the body is read again when it is opened. */
export interface TimelineEntry {
  readonly type: string;
  readonly id: string;
  /** The date as sent; for a period, its start. */
  readonly date: string;
  /** The date in milliseconds, for sorting. */
  readonly at: number;
  /** Whether the date is a date of care; otherwise it is the time of the last update. */
  readonly isCareDate: boolean;
  readonly label: string;
}

/**
 * Names of FHIR elements with the date of care, the most specific first. No type is named, so the server's own types
 * have dates too.
 */
const DATES = [
  ...['effective', 'performed', 'occurrence', 'onset', 'collected', 'identified', 'started', 'sent', 'start'],
  ...['period', 'servicedPeriod', 'billablePeriod', 'executionPeriod', 'date', 'authoredOn', 'authored', 'issued'],
  ...[
    'recordedDate',
    'recorded',
    'dateAsserted',
    'dateTime',
    'whenHandedOver',
    'whenPrepared',
    'dateWritten',
    'created',
  ],
  ...['assertedDate', 'startDate', 'received', 'birthDate'],
];
const DATE_TYPES = ['', 'DateTime', 'Period', 'Instant', 'Date', 'Timing'];

/** Names of elements with the subject matter of a resource. */
const SUBJECTS = [
  'code',
  'vaccineCode',
  'medication',
  'type',
  'title',
  'name',
  'class',
  'category',
  'description',
  'kind',
];

/** Names of elements with the result that a resource states. */
const RESULTS = ['value', 'dosageInstruction'];

/** Maximum length of a label that fits into a line. */
const MAX_LABEL = 160;

/** Reads one line of `$everything`. Numbers in labels keep the digits of the text. */
export function readEntry(line: string): TimelineEntry | undefined {
  const resource: unknown = JSON.parse(line);
  if (!isObject(resource)) return undefined;
  const { resourceType: type, id } = resource;
  if (typeof type !== 'string' || typeof id !== 'string') return undefined;
  const care = careDateOf(resource);
  const meta = isObject(resource.meta) ? resource.meta : {};
  const date = care ?? (typeof meta.lastUpdated === 'string' ? meta.lastUpdated : '');
  const at = Date.parse(date);
  return {
    type,
    id,
    date,
    at: Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at,
    isCareDate: care !== undefined,
    label: labelOf(resource, line).slice(0, MAX_LABEL),
  };
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function careDateOf(resource: Members): string | undefined {
  for (const name of DATES)
    for (const type of DATE_TYPES) {
      const date = dateIn(resource[`${name}${type}`]);
      if (date !== undefined) return date;
    }
  return undefined;
}

function dateIn(value: unknown): string | undefined {
  if (typeof value === 'string') return Number.isNaN(Date.parse(value)) ? undefined : value;
  if (!isObject(value)) return undefined;
  return [value.start, value.end, Array.isArray(value.event) ? value.event[0] : undefined].find(
    (date) => typeof date === 'string' && !Number.isNaN(Date.parse(date)),
  ) as string | undefined;
}

function labelOf(resource: Members, line: string): string {
  const subject = firstText(resource, SUBJECTS);
  const result = resultOf(resource, line);
  const status = result === undefined ? textOf(resource.status) : undefined;
  return [subject, result ?? status].filter((text) => text !== undefined && text !== '').join(' · ');
}

function firstText(resource: Members, names: readonly string[]): string | undefined {
  for (const name of names)
    for (const suffix of ['', 'CodeableConcept', 'Reference']) {
      const text = textOf(resource[name + suffix]);
      if (text !== undefined && text !== '') return text;
    }
  return undefined;
}

function resultOf(resource: Members, line: string): string | undefined {
  for (const name of Object.keys(resource)) {
    if (!RESULTS.some((result) => name.startsWith(result))) continue;
    const value = resource[name];
    if (isObject(value) && typeof value.value === 'number')
      return [textOf(value.comparator), digitsIn(line, name), textOf(value.unit) ?? textOf(value.code)]
        .filter((text) => text !== undefined)
        .join(' ');
    if (typeof value === 'number') return memberText(line, name);
    const text = textOf(value);
    if (text !== undefined) return text;
  }
  return undefined;
}

const memberText = (objectText: string, name: string): string | undefined =>
  membersOf(objectText).find(({ key }) => key === name)?.valueText;

const digitsIn = (line: string, name: string): string | undefined => memberText(memberText(line, name) ?? '', 'value');

/** The text of a string, coded value, name or reference. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return textOf(value[0]);
  if (!isObject(value)) return undefined;
  const { text, display, coding, code, family, given, reference } = value;
  if (typeof text === 'string') return text;
  if (typeof display === 'string') return display;
  if (Array.isArray(coding)) return textOf(coding[0]);
  if (typeof family === 'string' || Array.isArray(given)) {
    const names = [...(Array.isArray(given) ? (given as unknown[]) : []), family];
    return names.filter((name) => typeof name === 'string').join(' ');
  }
  return [code, reference].find((one) => typeof one === 'string') as string | undefined;
}
