import { type ItemCheck } from './binding-check';
import { isObject } from './fhirpath/compiled';
import { kindOf, type MemberCheck } from './member-check';
import { type ValidationRun } from './validation-run';

/** A JSON member that a type may have. */
export interface KnownMember {
  readonly check: MemberCheck;
  /** Name of the choice and key without `_`: `value[x]` may have one key only. */
  readonly choice?: { readonly name: string; readonly key: string };
}

/** An element that must be there, by any of its keys. */
export interface RequiredElement {
  readonly name: string;
  readonly keys: readonly string[];
}

/** The table that an object of a type is checked by. */
export interface ObjectTable {
  readonly type: string;
  readonly isResource: boolean;
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
    run.report('structure', `It must be an object (${table.type}), not ${kindOf(value)}.`);
    return;
  }
  const issuesBefore = run.count;
  const { members } = table;
  // Beside a primitive, an id alone says something: the value is in the other member.
  let hasContent = table.isResource;
  let chosen: KnownMember['choice'];
  for (const key in value) {
    const member = members.get(key);
    if (member === undefined && table.hasOtherMembers) {
      hasContent = true;
      continue;
    }
    if (member === undefined) {
      reportUnknown(table, key, run);
      if (run.isFull) return;
      continue;
    }
    if (key !== 'id' || table.type === 'Element') hasContent = true;
    const { choice } = member;
    if (choice !== undefined) {
      if (chosen?.name === choice.name && chosen.key !== choice.key) {
        run.reportAt(
          choice.name,
          'structure',
          `"${chosen.key}" and "${choice.key}" exclude each other. Send one of them.`,
        );
      }
      chosen = choice;
    }
    member.check(value[key], value, run);
    if (run.isFull) return;
  }
  for (const { name, keys } of table.required) {
    if (!keys.some((key) => value[key] !== undefined)) {
      run.reportAt(
        name,
        'required',
        `${table.type}.${name} is required. Add ${keys
          .filter((key) => !key.startsWith('_'))
          .map((key) => `"${key}"`)
          .join(' or ')}.`,
      );
    }
  }
  if (!hasContent)
    run.report('invariant', 'ele-1: an element must have a value or children. Leave the empty object out.');
  if (run.count !== issuesBefore) return;
  for (const rule of table.rules) rule(value, run);
}

function reportUnknown({ type, members }: ObjectTable, key: string, run: ValidationRun): void {
  const shown = key.slice(0, 64);
  const stem = key.replace(/^_/, '').toLowerCase();
  const near = [...members.keys()].find((known) => known.toLowerCase() === stem && known !== key);
  const choices = [...members.values()].flatMap(({ choice }) =>
    choice !== undefined && key.startsWith(choice.name) ? [choice.key] : [],
  );
  const hint =
    near !== undefined
      ? ` Did you mean "${near}"?`
      : choices.length > 0 && choices.length < 40
        ? ` It may be ${[...new Set(choices)].join(', ')}.`
        : '';
  run.reportAt(shown, 'structure', `"${shown}" is not an element of ${type}.${hint}`);
}
