import { type NativeReference, type Resource } from '../fhir/types';

/** A grant (interface, "Authentication", rule 5): without one that covers a request, it is denied. */
export interface AccessPolicy {
  readonly id: string;
  readonly engine: string;
  /** Whom or what it covers; several are alternatives. Without links it covers every authenticated caller. */
  readonly link: readonly NativeReference[];
  /** The whole resource, for the engine. */
  readonly resource: Resource;
}

export function accessPolicyOf(resource: Resource): AccessPolicy {
  const { id, engine, link } = resource as Resource & {
    readonly engine?: string;
    readonly link?: readonly NativeReference[];
  };
  return { id: id ?? '', engine: engine ?? '', link: link ?? [], resource };
}
