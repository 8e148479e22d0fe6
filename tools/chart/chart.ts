import { type Random } from './random';

/** A FHIR R4 resource; decimals are `LosslessNumber`, so that their digits stay as written. */
export interface ChartResource {
  readonly resourceType: string;
  readonly id: string;
  readonly [member: string]: unknown;
}

export interface Reference {
  readonly reference: string;
  readonly display?: string;
}

export interface ChartItem {
  readonly resource: ChartResource;
  /**
   * Whether the resource belongs to the patient's compartment. The code that made the resource decides, not a
   * CompartmentDefinition, so it is an independent oracle.
   */
  readonly inPatientCompartment: boolean;
}

/** A sequence of resources. It returns the reference that the next resources need. */
export type Recording<Result = void> = Generator<ChartItem, Result>;

/** State shared within one chart: its random numbers and its ids. */
export class Chart {
  private readonly countByType = new Map<string, number>();

  constructor(
    readonly random: Random,
    private readonly idPrefix: string,
  ) {}

  /** Yields a resource that belongs to the patient's compartment. */
  *ofPatient(resourceType: string, members: object): Recording<Reference> {
    return yield* this.item(resourceType, members, true);
  }

  /** Yields a resource that the chart refers to, but that does not belong to the patient. */
  *ofOthers(resourceType: string, members: object): Recording<Reference> {
    return yield* this.item(resourceType, members, false);
  }

  private *item(resourceType: string, members: object, inPatientCompartment: boolean): Recording<Reference> {
    const id = this.nextId(resourceType);
    yield { resource: { resourceType, id, ...members }, inPatientCompartment };
    return { reference: `${resourceType}/${id}` };
  }

  private nextId(resourceType: string): string {
    const count = (this.countByType.get(resourceType) ?? 0) + 1;
    this.countByType.set(resourceType, count);
    return `${this.idPrefix}${resourceType.toLowerCase()}-${count}`;
  }
}
