/** A place in a document as people read it. */
export interface FieldLabel {
  /** `Body temperature`, or `Address › Street` for what stands deeper. */
  readonly label: string;
  /** The unit that stands beside the value. */
  readonly unit?: string;
}

/** Names of observation codes that documents are keyed by. Source: http://hl7.org/fhir/R4/observation-vitalsigns.html */
const VITAL_SIGNS: Readonly<Record<string, string>> = {
  '85353-1': 'Vital signs',
  '9279-1': 'Respiratory rate',
  '8867-4': 'Heart rate',
  '2708-6': 'Oxygen saturation',
  '8310-5': 'Body temperature',
  '8302-2': 'Body height',
  '9843-4': 'Head circumference',
  '29463-7': 'Body weight',
  '39156-5': 'Body mass index',
  '85354-9': 'Blood pressure',
  '8480-6': 'Systolic blood pressure',
  '8462-4': 'Diastolic blood pressure',
};

/** Members by which an answer names itself. */
const NAMES = ['label', 'title', 'text', 'display'];

/**
 * Says what a path leads to in a snapshot: by the name that an answer gives itself, by its observation code, else by its key made readable.
 * What the path does not lead to is named by its keys alone.
 */
export function labelOf(path: readonly string[], snapshot: unknown): FieldLabel {
  let value: unknown = snapshot;
  let holder: unknown;
  const parts: string[] = [];
  for (const [index, step] of path.entries()) {
    holder = value;
    value = memberOf(value, step);
    const isValue = step === 'value' && index === path.length - 1 && index > 0;
    if (!isValue) parts.push(nameOf(step, holder, value));
  }
  const unit = path.at(-1) === 'value' ? memberOf(holder, 'unit') : undefined;
  return { label: parts.join(' › '), ...(typeof unit === 'string' && unit !== '' ? { unit } : {}) };
}

function nameOf(step: string, holder: unknown, value: unknown): string {
  for (const name of NAMES) {
    const own = memberOf(value, name);
    if (typeof own === 'string' && own.trim() !== '' && own.length <= 200) return own;
  }
  if (Array.isArray(holder) && /^\d+$/.test(step)) return `item ${Number(step) + 1}`;
  const sign = Object.hasOwn(VITAL_SIGNS, codeOf(step)) ? VITAL_SIGNS[codeOf(step)] : undefined;
  return sign ?? readable(step);
}

const codeOf = (step: string): string => step.replace(/^loinc-/i, '');

function readable(step: string): string {
  if (!/^[A-Za-z][A-Za-z-_]*$/.test(step)) return step === '' ? '(no name)' : step;
  const words = step
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[-_]+/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A member by a key that a caller chose: nothing that was not stored is ever found. */
function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}
