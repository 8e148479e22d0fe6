import { type Variables } from '../../fhirpath/fhirpath';
import { isObject } from '../../platform/json/plain-object';
import { referenceTargetOf } from '../../fhir/reference';

/** The variables of an expression that is evaluated on one resource. */
export class Scope implements Variables {
  private containedTypes: ReadonlyMap<unknown, unknown> | undefined;

  /** @param baseUrl the server's base URL, without a trailing slash */
  constructor(
    readonly resource: Readonly<Record<string, unknown>>,
    readonly baseUrl: string,
  ) {}

  /**
   * The type of the resource that a reference means. It is read from the reference, so the target need not be stored.
   */
  typeOfTarget(reference: unknown): unknown {
    const target = referenceTargetOf(reference, this.baseUrl);
    if (target === undefined || !isObject(reference)) return undefined;
    if (target.kind === 'urn') return reference.type;
    if (target.kind !== 'contained') return target.type;
    // Listed once, since a hostile body may hold and reference thousands of them.
    this.containedTypes ??= this.listContained();
    return this.containedTypes.get(target.id);
  }

  private listContained(): ReadonlyMap<unknown, unknown> {
    const { contained } = this.resource;
    const resources = Array.isArray(contained) ? contained.filter(isObject) : [];
    return new Map(resources.map(({ id, resourceType }) => [id, resourceType]));
  }
}
