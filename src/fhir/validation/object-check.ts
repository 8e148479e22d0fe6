import { type ItemCheck } from './binding-check';
import { isObject } from '../is-object';
import { type KnownMember, kindOf } from './member-check';
import { hintFor } from './unknown-member';
import { type ValidationRun } from './validation-run';

/** An element that must be there, by any of its keys. */
export interface RequiredElement {
  readonly name: string;
  readonly keys: readonly string[];
}

/** The table that an object of a type is checked by. */
export interface ObjectTable {
  readonly type: string;
  /** Whether FHIR's ele-1 does not apply: to resources, and to types of the native style. */
  readonly mayBeEmpty: boolean;
  /** Whether members that are not listed are let through. */
  readonly hasOtherMembers: boolean;
  readonly members: ReadonlyMap<string, KnownMember>;
  readonly required: readonly RequiredElement[];
  /** Run only on objects whose structure is sound. */
  readonly rules: readonly ItemCheck[];
}

/** Checks a JSON object: known members only, required ones there, one of each choice, not empty, rules kept. */
export function checkObject(table: ObjectTable, value: unknown, run: ValidationRun): void {
  if (!isObject(value)) {
    run.report('structure', `It must be an object (${table.type}), not ${kindOf(value)}.${exampleOf(table.type)}`);
    return;
  }
  const issuesBefore = run.count;
  const { members } = table;
  // Beside a primitive, an id alone says something: the value is in the other member.
  let hasContent = table.mayBeEmpty;
  const chosen = new ChosenTypes();
  let misspelt: Set<string> | undefined;
  for (const key in value) {
    const member = members.get(key);
    if (member === undefined && table.hasOtherMembers) {
      hasContent = true;
      continue;
    }
    if (member === undefined) {
      hasContent = true;
      (misspelt ??= new Set()).add(reportUnknown(table, key, run) ?? '');
      if (run.isFull) return;
      continue;
    }
    if (key !== 'id' || table.type === 'Element') hasContent = true;
    if (member.choice !== undefined) chosen.add(member.choice, run);
    member.check(value[key], value, run);
    if (run.isFull) return;
  }
  for (const { name, keys } of table.required) {
    // A misspelt one is told already.
    if (keys.some((key) => value[key] !== undefined) || misspelt?.has(name) === true) continue;
    run.reportAt(
      name,
      'required',
      `${table.type}.${name} is required. Add ${keys
        .filter((key) => !key.startsWith('_'))
        .map((key) => `"${key}"`)
        .join(' or ')}.`,
    );
  }
  if (!hasContent)
    run.report('invariant', 'ele-1: an element must have a value or children. Leave the empty object out.');
  if (run.count !== issuesBefore) return;
  for (const rule of table.rules) rule(value, run);
}

/** What the data types look like that are most often sent as a text. */
const EXAMPLES: Readonly<Record<string, string>> = {
  Reference: '{"reference": "Patient/1"}',
  CodeableConcept: '{"text": "…"} or {"coding": [{"system": "…", "code": "…"}]}',
  Coding: '{"system": "…", "code": "…"}',
  Quantity: '{"value": 1, "unit": "kg"}',
  Period: '{"start": "2020-01-31"}',
  Identifier: '{"system": "…", "value": "…"}',
  HumanName: '{"family": "…", "given": ["…"]}',
  Narrative: '{"status": "generated", "div": "<div xmlns=…>…</div>"}',
  Annotation: '{"text": "…"}',
};

function exampleOf(type: string): string {
  const example = EXAMPLES[type];
  return example === undefined ? '' : ` Send ${example}.`;
}

type Choice = NonNullable<KnownMember['choice']>;

/** The types that were chosen of each choice; most objects have one choice at most. */
class ChosenTypes {
  private first: Choice | undefined;
  private others: Map<string, Choice> | undefined;
  private reported: Set<string> | undefined;

  /** Reports a second type of one choice, once. */
  add(choice: Choice, run: ValidationRun): void {
    if (this.first === undefined) {
      this.first = choice;
      return;
    }
    const known = this.first.name === choice.name ? this.first : this.others?.get(choice.name);
    if (known === undefined) {
      (this.others ??= new Map()).set(choice.name, choice);
      return;
    }
    if (known.key === choice.key || this.reported?.has(choice.name) === true) return;
    (this.reported ??= new Set()).add(choice.name);
    run.reportAt(choice.name, 'structure', `"${known.key}" and "${choice.key}" exclude each other. Send one of them.`);
  }
}

/** @returns the name of the element that is meant, where one is near */
function reportUnknown({ type, members }: ObjectTable, key: string, run: ValidationRun): string | undefined {
  const { hint, meant } = hintFor(key, type, members);
  const shown = key.slice(0, 64);
  run.reportAt(shown, 'structure', `"${shown}" is not an element of ${type}.${hint}`);
  return meant;
}
