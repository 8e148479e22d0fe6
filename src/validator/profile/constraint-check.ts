import { isDeepStrictEqual } from 'node:util';
import { invariantDefinitions, once } from '../../fhir/definitions/definitions';
import { isObject } from '../../platform/json/plain-object';
import { compileConstraint, ExpressionError, type Truth } from '../../fhirpath/fhirpath';
import { codeCheck } from '../r4/binding-check';
import { type ValidationRun } from '../r4/validation-run';
import { type ElementValue, matchesPattern } from './element-values';
import { type ProfileRun } from './profile-run';
import { type StoredSources } from './profile-trees';
import { type ElementConstraint, type Invariant } from './stored-profile';
import { checkLimits, type Measures } from './value-limits';

/** Checks a single value by one constraint: fixed values, limits, codes, invariants. */
export class ConstraintCheck {
  private readonly invariants = new Map<Invariant, Truth | ExpressionError>();

  constructor(private readonly sources: StoredSources & Measures) {}

  checkValue(constraint: ElementConstraint, value: unknown, at: ProfileRun): void {
    const { fixed, pattern } = constraint;
    if (fixed !== undefined && !isDeepStrictEqual(value, fixed.value))
      at.report('value', `it must be exactly ${shortJson(fixed.value)}.`);
    if (pattern !== undefined && !matchesPattern(value, pattern.value))
      at.report('value', `it must hold at least ${shortJson(pattern.value)}.`);
    checkLimits(constraint, value, at, this.sources);
  }

  checkBinding({ requiredValueSet }: ElementConstraint, { value, choiceType }: ElementValue, at: ProfileRun): void {
    if (requiredValueSet === undefined || value === undefined || value === null) return;
    const set = this.sources.codes(requiredValueSet);
    if (set !== undefined) codeCheck(set, bindableTypeOf(value, choiceType))?.(value, at.run);
    else at.warn(`the code is not checked; ${requiredValueSet} is not stored here, or not listed in full.`);
  }

  checkInvariant(invariant: Invariant, path: string, value: unknown, run: ValidationRun): void {
    if (keysOfR4().has(invariant.key)) return;
    const truth = this.invariants.get(invariant) ?? truthOrError(invariant, path);
    this.invariants.set(invariant, truth);
    if (truth instanceof ExpressionError)
      run.warn(`${invariant.key} cannot be evaluated here. Its expression: ${truth.message}.`);
    else if (truth(value, { resource: run.resource, rootResource: run.rootResource, context: value }) === false)
      run.report('invariant', `${invariant.key}: ${invariant.human}`, invariant.severity);
  }
}

function bindableTypeOf(value: unknown, choiceType: string | undefined): string {
  if (typeof value === 'string') return 'code';
  if (choiceType !== undefined) return choiceType;
  if (isObject(value) && ('coding' in value || 'text' in value)) return 'CodeableConcept';
  return 'Coding';
}

const shortJson = (value: unknown): string => JSON.stringify(value).slice(0, 300);

/**
 * Keys of the invariants that a profile does not check. Snapshots repeat R4's own invariants, but the validation by
 * type checks these already. dom-6 only advises that every resource should have a narrative.
 */
const keysOfR4 = once(() => new Set(['dom-6', ...invariantDefinitions().map(({ key }) => key)]));

/**
 * Compiles an invariant, or returns the error that it cannot be compiled.
 * @param path path of the element in its type, such as `Patient.contact`
 */
function truthOrError({ expression }: Invariant, path: string): Truth | ExpressionError {
  try {
    return compileConstraint(expression, path);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}
