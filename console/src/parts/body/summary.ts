import { readableKey } from '../../../../src/addendum/page/readable-key';
import { type JsonObject, type JsonValue } from '../../../../src/platform/json/lossless';
import { scalarText, type Shown, shownOf } from './datatypes';

/** A line of the readable form of a resource. */
export interface SummaryRow extends Partial<Shown> {
  readonly key: string;
  /** The depth of the line: 0 for members of the resource. */
  readonly depth: number;
  readonly label: string;
}

/**
 * Members that are left out: the header shows them, they are meant for machines, or they repeat the content (`text`).
 */
const ELSEWHERE = ['resourceType', 'id', 'meta', 'text', 'implicitRules', 'contained'];

/**
 * Matches the name of an element that may have several types, by its suffix, as in `valueQuantity`. `Date` is excluded
 * because `birthDate` has only one type.
 */
const CHOICE =
  /^(.+?)(Quantity|CodeableConcept|DateTime|Period|Range|Ratio|String|Boolean|Age|Duration|Timing|Reference|Integer|Instant|Attachment)$/;

/** The maximum depth. The JSON shows deeper structures. */
const MAX_DEPTH = 6;

/** The maximum number of lines. The JSON shows all. */
export const MAX_SUMMARY_ROWS = 500;

/**
 * The label of an element. A suffix of {@link CHOICE} is cut off, except from a list, since a repeating element such as
 * `referenceRange` has one type.
 */
const labelOf = (key: string, value: JsonValue): string =>
  readableKey(Array.isArray(value) ? key : (CHOICE.exec(key)?.[1] ?? key));

/** The resource as labels and values, made only from its members, so that unknown types are shown too. */
export function summaryOf(resource: JsonValue): readonly SummaryRow[] {
  const rows: SummaryRow[] = [];
  if (resource instanceof Map) addMembers(rows, resource, '', 0, ELSEWHERE);
  return rows;
}

function addMembers(
  rows: SummaryRow[],
  object: JsonObject,
  path: string,
  depth: number,
  except: readonly string[] = [],
): void {
  for (const [key, value] of object) {
    // Members such as `_birthDate` hold extensions of primitive values, and are left out.
    if (rows.length >= MAX_SUMMARY_ROWS) return;
    if (except.includes(key) || key.startsWith('_')) continue;
    if (key === 'extension' || key === 'modifierExtension') addExtensions(rows, value, `${path}.${key}`, depth);
    else addValue(rows, value, { key: `${path}.${key}`, label: labelOf(key, value), depth });
  }
}

type Place = Pick<SummaryRow, 'key' | 'label' | 'depth'>;

function addValue(rows: SummaryRow[], value: JsonValue, place: Place): void {
  if (rows.length >= MAX_SUMMARY_ROWS) return;
  const { key, label, depth } = place;
  if (Array.isArray(value)) {
    const texts = value.map(scalarText);
    if (texts.every((text) => text !== undefined)) rows.push({ ...place, text: texts.join(', ') });
    else
      value.forEach((item, index) => {
        const isOne = value.length === 1 || shownOf(item) !== undefined;
        addValue(rows, item, { key: `${key}.${index}`, label: isOne ? label : `${label} ${index + 1}`, depth });
      });
    return;
  }
  const shown = shownOf(value);
  if (shown !== undefined) rows.push({ ...place, ...shown });
  else if (value instanceof Map) {
    if (depth >= MAX_DEPTH) {
      rows.push({ ...place, text: '…', note: 'deeper than this view; see the JSON' });
      return;
    }
    rows.push({ key, label, depth });
    addMembers(rows, value, key, depth + 1);
  }
}

/** Adds the extensions of an element. The name of an extension is the end of its URL. */
function addExtensions(rows: SummaryRow[], list: JsonValue, path: string, depth: number): void {
  if (!Array.isArray(list)) return;
  list.forEach((extension, index) => {
    if (!(extension instanceof Map) || rows.length >= MAX_SUMMARY_ROWS) return;
    const url = scalarText(extension.get('url')) ?? '';
    const label = readableKey(url.split(/[/#:]/).findLast((part) => part !== '') ?? 'extension');
    const place = { key: `${path}.${index}`, label, depth };
    const value = [...extension].find(([key]) => key.startsWith('value'))?.[1];
    if (value !== undefined) addValue(rows, value, place);
    else if (depth < MAX_DEPTH) {
      rows.push(place);
      addExtensions(rows, extension.get('extension') ?? [], place.key, depth + 1);
    }
  });
}
