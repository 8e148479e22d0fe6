import { type ItemCheck } from './binding-check';
import { isObject, type PlainObject } from '../../platform/json/plain-object';
import { jsonKindOf, type KnownMember } from './member-check';
import { hintFor } from './unknown-member';
import { type Rest, then, type ValidationRun } from './validation-run';

/** A required element. One of its keys must be present. */
export interface RequiredElement {
  readonly name: string;
  readonly keys: readonly string[];
}

/** The table by which objects of a type are checked. */
export interface ObjectTable {
  readonly type: string;
  /** Whether FHIR's invariant ele-1 (no empty elements) does not apply. This is so for resources and native types. */
  readonly mayBeEmpty: boolean;
  /** Whether members that the table does not list are allowed. */
  readonly hasOtherMembers: boolean;
  readonly members: ReadonlyMap<string, KnownMember>;
  readonly required: readonly RequiredElement[];
  /** Rules that run only on an object without structural faults. */
  readonly rules: readonly ItemCheck[];
}

export function checkObject(table: ObjectTable, value: unknown, run: ValidationRun): Rest {
  if (isObject(value)) return new ObjectWalk(table, value, run).start();
  run.report('structure', `It must be an object (${table.type}), not ${jsonKindOf(value)}.${exampleOf(table.type)}`);
  return undefined;
}

/** The check of one object, which can pause between its members. */
class ObjectWalk {
  private readonly issuesBefore: number;
  // Whether the object has any content. In the member `_name`, which holds the extensions of a primitive, an id alone
  // suffices: the value is in the member `name`.
  private hasContent: boolean;
  /** The member that is present of each choice. It is undefined after a second member was reported. */
  private chosen: Map<string, string | undefined> | undefined;
  private misspelt: Set<string> | undefined;

  constructor(
    private readonly table: ObjectTable,
    private readonly value: PlainObject,
    private readonly run: ValidationRun,
  ) {
    this.issuesBefore = run.count;
    this.hasContent = table.mayBeEmpty;
  }

  start(): Rest {
    const { value, run } = this;
    const checked = run.each(Object.keys(value), (key) => (run.isFull ? undefined : this.checkMember(key)));
    return then(checked, () => {
      if (!run.isFull) this.end();
    });
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
    if (member.choice !== undefined) this.choose(member.choice);
    return member.check(value[key], value, run);
  }

  private choose({ name, key }: NonNullable<KnownMember['choice']>): void {
    const chosen = (this.chosen ??= new Map<string, string | undefined>());
    if (!chosen.has(name)) chosen.set(name, key);
    const known = chosen.get(name);
    if (known === undefined || known === key) return;
    chosen.set(name, undefined);
    this.run.reportAt(name, 'structure', `"${known}" and "${key}" exclude each other. Send one of them.`);
  }

  private end(): void {
    const { table, value, run } = this;
    for (const { name, keys } of table.required) {
      // If a member is probably this element misspelt, the fault is reported already.
      if (keys.some((key) => value[key] !== undefined) || this.misspelt?.has(name) === true) continue;
      const named = keys.filter((key) => !key.startsWith('_')).map((key) => `"${key}"`);
      run.reportAt(name, 'required', `${table.type}.${name} is required. Add ${named.join(' or ')}.`);
    }
    if (!this.hasContent)
      run.report('invariant', 'ele-1: an element must have a value or children. Leave the empty object out.');
    if (run.count !== this.issuesBefore) return;
    for (const rule of table.rules) rule(value, run);
  }
}

/** Examples of the data types that clients most often send as a text by mistake. */
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

const exampleOf = (type: string): string => (EXAMPLES[type] === undefined ? '' : ` Send ${EXAMPLES[type]}.`);

/**
 * Reports a member that the type does not have.
 * @returns the name of the element that was probably meant, if one is near
 */
function reportUnknown({ type, members }: ObjectTable, key: string, run: ValidationRun): string | undefined {
  const { hint, meant } = hintFor(key, type, members);
  const shown = key.slice(0, 64);
  run.reportAt(shown, 'structure', `"${shown}" is not an element of ${type}.${hint}`);
  return meant;
}
