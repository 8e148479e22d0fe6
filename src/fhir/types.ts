/** FHIR shapes, reduced to the members that the server itself reads (http://hl7.org/fhir/R4/resource.html). */
export interface Resource {
  readonly resourceType: string;
  readonly id?: string;
  readonly meta?: Meta;
  readonly [member: string]: unknown;
}

export interface Meta {
  readonly versionId?: string;
  readonly lastUpdated?: string;
  readonly profile?: readonly string[];
  /** The creation time in native types; set by the server. */
  readonly createdAt?: unknown;
  readonly extension?: unknown;
}

/** The reference form of SDC*, Client, User, Session, AccessPolicy and Role in their own members. */
export interface NativeReference {
  readonly resourceType: string;
  readonly id: string;
}

export interface OperationOutcome {
  readonly resourceType: 'OperationOutcome';
  readonly id: string;
  readonly text: { readonly status: 'generated'; readonly div: string };
  readonly issue: readonly {
    readonly severity: 'fatal' | 'error' | 'warning' | 'information';
    readonly code: string;
    readonly details?: { readonly coding: readonly { readonly system: string; readonly code: string }[] };
    readonly diagnostics: string;
    readonly expression?: readonly string[];
  }[];
}
