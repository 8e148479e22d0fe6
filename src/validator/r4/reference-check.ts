import { isR4ResourceType } from '../../fhir/definitions/definitions';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { isFhirId, parseReference } from '../../fhir/reference';
import { isObject } from '../../platform/json/plain-object';
import { type ElementCheck, type ItemCheck } from './binding-check';
import { jsonKindOf } from './member-check';
import { type ValidationRun } from './validation-run';

/**
 * Pattern of a reference by search. In a transaction, a reference may be a search for its target
 * (http://hl7.org/fhir/R4/http.html#trules).
 */
const CONDITIONAL = /^([A-Z][A-Za-z]*)\?\S+$/;

/**
 * Checks the syntax of a Reference and, if it is known, the type of its target
 * (http://hl7.org/fhir/R4/references.html). A logical reference, which has only an identifier, is valid.
 * @param targets allowed types of the target; an empty list allows any
 */
export function referenceCheck(targets: readonly string[]): ItemCheck {
  return (item, run) => {
    if (!isObject(item)) return;
    const { reference, type } = item;
    // Other texts, such as the URL of a logical model, name no resource type.
    const named = typeof type === 'string' && /^[A-Z][A-Za-z]*$/.test(type) ? type : undefined;
    if (typeof reference !== 'string') {
      if (named !== undefined) checkTarget(named, targets, run);
      return;
    }
    const found = targetTypeOf(reference, run) ?? named;
    if (found === undefined) return;
    checkTarget(found, targets, run);
    if (named !== undefined && named !== found)
      run.report(
        'structure',
        `type says ${named}, but reference points at ${found}. Make them agree, or leave type out.`,
      );
  };
}

/** The check of `{resourceType, id}`, the form of references in types of this server. */
export function nativeReferenceCheck(targets: readonly string[]): ElementCheck {
  return (item, run) => {
    if (!isObject(item)) {
      run.report('structure', `It must be an object with "resourceType" and "id", not ${jsonKindOf(item)}.`);
      return undefined;
    }
    const { resourceType, id, ...others } = item;
    const [unknown] = Object.keys(others).filter((key) => key !== 'display' && key !== 'extension');
    if (unknown !== undefined)
      run.reportAt(unknown.slice(0, 64), 'structure', 'It must have "resourceType" and "id", and may have "display".');
    if (typeof resourceType !== 'string' || (targets.length > 0 && !targets.includes(resourceType))) {
      const expected = targets.length === 0 ? 'a resource type' : `one of ${targets.join(', ')}`;
      run.reportAt('resourceType', 'value', `It must be ${expected}.`);
    }
    if (typeof id !== 'string' || !isFhirId(id)) run.reportAt('id', 'value', 'It must be an id.');
    return undefined;
  };
}

function checkTarget(type: string, targets: readonly string[], run: ValidationRun): void {
  if (targets.length === 0 || targets.includes(type)) return;
  const hint = didYouMean(isR4ResourceType(type) ? undefined : nearestCode(type, targets));
  run.report('structure', `It may point at ${targets.join(', ')}, not at ${type.slice(0, 64)}.${hint}`);
}

/** The type of a reference's target, if the text shows it. A text that is no reference is reported. */
function targetTypeOf(reference: string, run: ValidationRun): string | undefined {
  const target = parseReference(reference, '');
  switch (target?.kind) {
    case 'local':
      // Some systems send entries with the fullUrl "urn:uuid:…", but refer to such an entry by its type and UUID.
      return run.entryTypeOf(`urn:uuid:${target.id}`) ?? target.type;
    case 'contained':
      run.noteFragment(reference);
      return containedTypeOf(target.id, run);
    case 'absolute':
      // In a URL of another server, a segment that looks like a type need not be one.
      return (
        run.entryTypeOf(target.key) ??
        (target.type !== undefined && isR4ResourceType(target.type) ? target.type : undefined)
      );
    case 'urn':
      return run.entryTypeOf(target.key);
    case undefined:
      return conditionalTypeOf(reference, run);
  }
}

function containedTypeOf(id: string, run: ValidationRun): string | undefined {
  if (id === '') return undefined;
  const types = run.containedTypes;
  const type = types.get(id);
  if (type === undefined) {
    run.noteBrokenReference();
    const present = [...types.keys()].slice(0, 5).map((known) => `"#${known.slice(0, 64)}"`);
    run.reportAt(
      'reference',
      'invariant',
      `ref-1: no contained resource has the id "${id.slice(0, 64)}"${present.length === 0 ? '' : `, but ${present.join(', ')}`}. ` +
        'Add it to "contained", or correct the reference.',
    );
  }
  // If the contained resource has an unknown type, this fault is reported at that resource.
  return type !== undefined && isR4ResourceType(type) ? type : undefined;
}

function conditionalTypeOf(reference: string, run: ValidationRun): string | undefined {
  const type = CONDITIONAL.exec(reference)?.[1];
  if (type === undefined) {
    const isContained = run.containedTypes.has(reference);
    if (isContained) run.noteBrokenReference();
    run.reportAt(
      'reference',
      'value',
      'A reference is "Type/id", an absolute URL, "urn:uuid:…", "urn:oid:…" or "#id" of a contained resource.' +
        didYouMean(isContained ? `#${reference}` : undefined),
    );
  }
  return type;
}
