import { type ErrorIssue } from '../../platform/errors/service-error';
import { atOnce, type Rest, type Steps, then } from '../../platform/time/steps';
import { r4ResourceTypes } from '../../fhir/definitions/definitions';
import { nearestCode } from '../../platform/text/nearest-code';
import { ElementTables } from '../../fhir/definitions/element-tables';
import { isObject } from '../../platform/json/plain-object';
import { jsonKindOf } from './member-check';
import { TypeChecks } from './type-checks';
import { ValidationRun } from './validation-run';

/**
 * Validates resources by the definitions of R4 4.0.1 (http://hl7.org/fhir/R4/validation.html): structure, cardinality,
 * formats, required bindings, references and invariants. The checks of a type are compiled when its first resource is
 * validated.
 */
export class ResourceValidator {
  private readonly checks: TypeChecks;

  constructor(private readonly elements: ElementTables = new ElementTables()) {
    this.checks = new TypeChecks(elements, (value, isContained, run) => this.checkNested(value, isContained, run));
  }

  /** Whether resources of this type have a shape. Resources of other types may have any content. */
  hasShape(type: string): boolean {
    return this.elements.isResource(type);
  }

  /**
   * All issues of a resource, at most 100. The list is empty if the resource is valid.
   * @param type the type as which it is validated
   * @param value the resource as `JSON.parse` returns it
   */
  validate(type: string, value: unknown): readonly ErrorIssue[] {
    return atOnce(this.run(type, value)).issues;
  }

  /** Validates like {@link validate}, but in steps. It also returns what else the walk found. */
  *run(type: string, value: unknown): Steps<ValidationRun> {
    const run = new ValidationRun();
    run.enter(type);
    if (isObject(value)) {
      const rest = run.inResource(value, () => this.checks.check(type, value, run));
      if (rest !== undefined) yield* rest;
    } else run.report('structure', `It must be an object (${type}), not ${jsonKindOf(value)}.`);
    return run;
  }

  /** Checks a nested resource, which names its own type. */
  private checkNested(value: unknown, isContained: boolean, run: ValidationRun): Rest {
    if (!isObject(value)) {
      run.report('structure', `It must be a resource, not ${jsonKindOf(value)}.`);
      return undefined;
    }
    const { resourceType: type } = value;
    if (typeof type !== 'string') {
      run.reportAt('resourceType', 'required', 'A resource must name its type. Add "resourceType".');
      return undefined;
    }
    if (this.elements.isOpen(type)) return undefined;
    if (!this.elements.isResource(type)) {
      const near = nearestCode(type, r4ResourceTypes());
      const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
      run.reportAt('resourceType', 'structure', `"${type.slice(0, 64)}" is not a resource type of this server.${hint}`);
      return undefined;
    }
    if (!isContained) return run.inResource(value, () => this.checks.check(type, value, run));
    return run.inContained(value, () =>
      then(this.checks.check(type, value, run), () => {
        if (value.contained !== undefined)
          run.reportAt(
            'contained',
            'invariant',
            'dom-2: a contained resource must not contain others. Move them up to the container.',
          );
      }),
    );
  }
}
