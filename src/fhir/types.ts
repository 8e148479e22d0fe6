/** Resources of FHIR, reduced to the members that the server itself reads (http://hl7.org/fhir/R4/resource.html). */
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
  /** The creation time of a resource of a native type. The server sets it. */
  readonly createdAt?: unknown;
  readonly extension?: unknown;
}

/** The form of references in members that only native types have (SDC*, Client, User, Session, AccessPolicy, Role). */
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
