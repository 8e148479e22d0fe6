import { type Rest, type Steps } from '../../platform/time/steps';
import { type ItemCheck } from './binding-check';
import { isObject } from '../../platform/json/plain-object';
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
export function checkObject(table: ObjectTable, value: unknown, run: ValidationRun): Rest {
  if (isObject(value)) return new ObjectWalk(table, value, run).start();
  run.report('structure', `It must be an object (${table.type}), not ${kindOf(value)}.${exampleOf(table.type)}`);
  return undefined;
}

/** The check of one object, which can pause between its members. */
class ObjectWalk {
  private readonly issuesBefore: number;
  // Beside a primitive, an id alone says something: the value is in the other member.
  private hasContent: boolean;
  private readonly chosen = new ChosenTypes();
  private misspelt: Set<string> | undefined;

  constructor(
    private readonly table: ObjectTable,
    private readonly value: Readonly<Record<string, unknown>>,
    private readonly run: ValidationRun,
  ) {
    this.issuesBefore = run.count;
    this.hasContent = table.mayBeEmpty;
  }

  start(): Rest {
    for (const key in this.value) {
      const rest = this.checkMember(key);
      if (this.run.isFull) return rest;
      if (rest !== undefined || this.run.isDue()) return this.others(key, rest);
    }
    this.end();
    return undefined;
  }

  private *others(first: string, rest: Rest): Steps<void> {
    if (rest === undefined) yield;
    else yield* rest;
    const keys = Object.keys(this.value);
    for (const key of keys.slice(keys.indexOf(first) + 1)) {
      if (this.run.isFull) return;
      const more = this.checkMember(key);
      if (more !== undefined) yield* more;
      else if (this.run.isDue()) yield;
    }
    if (!this.run.isFull) this.end();
  }

  private checkMember(key: string): Rest {
    const { table, value, run } = this;
    const member = table.members.get(key);
    if (member === undefined) {
      this.hasContent = true;
      if (!table.hasOtherMembers) (this.misspelt ??= new Set()).add(reportUnknown(table, key, run) ?? '');
      return undefined;
    }
    if (key !== 'id' || table.type === 'Element') this.hasContent = true;
    if (member.choice !== undefined) this.chosen.add(member.choice, run);
    return member.check(value[key], value, run);
  }

  private end(): void {
    const { table, value, run } = this;
    for (const { name, keys } of table.required) {
      // A misspelt one is reported already.
      if (keys.some((key) => value[key] !== undefined) || this.misspelt?.has(name) === true) continue;
      run.reportAt(
        name,
        'required',
        `${table.type}.${name} is required. Add ${keys
          .filter((key) => !key.startsWith('_'))
          .map((key) => `"${key}"`)
          .join(' or ')}.`,
      );
    }
    if (!this.hasContent)
      run.report('invariant', 'ele-1: an element must have a value or children. Leave the empty object out.');
    if (run.count !== this.issuesBefore) return;
    for (const rule of table.rules) rule(value, run);
  }
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
