import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../platform/json/plain-object';
import { ExpressionError, type Truth } from '../../fhirpath/fhirpath';
import { codeCheck } from '../r4/binding-check';
import { type ValidationRun } from '../r4/validation-run';
import { type ElementValue, matchesPattern } from './element-values';
import { isOfR4, profileInvariant } from '../../fhir/validation/profile/profile-invariant';
import { type StoredSources } from './profile-trees';
import { type ElementConstraint, type Invariant } from './stored-profile';
import { checkLimits, type Measures } from './value-limits';

/** What a profile says of one value by itself: fixed values, limits, codes, invariants. */
export class ConstraintCheck {
  private readonly invariants = new Map<Invariant, Truth | ExpressionError>();

  constructor(private readonly sources: StoredSources & Measures) {}

  checkValue(constraint: ElementConstraint, value: unknown, run: ValidationRun, url: string): void {
    const { fixed, pattern } = constraint;
    if (fixed !== undefined && !isDeepStrictEqual(value, fixed.value)) {
      run.report('value', `${url}: it must be exactly ${shown(fixed.value)}.`);
    }
    if (pattern !== undefined && !matchesPattern(value, pattern.value)) {
      run.report('value', `${url}: it must hold at least ${shown(pattern.value)}.`);
    }
    checkLimits(constraint, value, run, url, this.sources);
  }

  checkBinding(
    { requiredValueSet }: ElementConstraint,
    { value, choiceType }: ElementValue,
    run: ValidationRun,
    url: string,
  ): void {
    if (requiredValueSet === undefined || value === undefined || value === null) return;
    const set = this.sources.codes(requiredValueSet);
    if (set === undefined) {
      run.report(
        'informational',
        `${url}: the code is not checked; ${requiredValueSet} is not stored here, or not listed in full.`,
        'warning',
      );
      return;
    }
    codeCheck(set, bindableTypeOf(value, choiceType))?.(value, run);
  }

  checkInvariant(invariant: Invariant, path: string, value: unknown, run: ValidationRun): void {
    if (isOfR4(invariant)) return;
    const truth = this.invariants.get(invariant) ?? profileInvariant(invariant, path);
    this.invariants.set(invariant, truth);
    if (truth instanceof ExpressionError) {
      run.report(
        'informational',
        `${invariant.key} cannot be evaluated here. Its expression: ${truth.message}.`,
        'warning',
      );
    } else if (truth(value, { resource: run.resource, rootResource: run.rootResource, context: value }) === false) {
      run.report('invariant', `${invariant.key}: ${invariant.human}`, invariant.severity);
    }
  }
}

function bindableTypeOf(value: unknown, choiceType: string | undefined): string {
  if (typeof value === 'string') return 'code';
  if (choiceType !== undefined) return choiceType;
  if (isObject(value) && ('coding' in value || 'text' in value)) return 'CodeableConcept';
  return 'Coding';
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 300);
}
