/** The sender of a Bundle, and the requested form of the answer. */
export interface BundleCall {
  /** `/fhir` or the empty text: entries are processed on the root that the Bundle was sent to. */
  readonly root: string;
  /** Prefix of locations. */
  readonly rootUrl: string;
  readonly authorization: string | undefined;
  readonly prefer: string | undefined;
  /** True for the server itself, which no policy limits: for the Bundle of the first start. */
  readonly isSystem: boolean;
}

export type ReturnPreference = 'minimal' | 'representation' | 'OperationOutcome';

/**
 * `Prefer: return=…` (http://hl7.org/fhir/R4/http.html#ops); the answer to a Bundle has no resources unless requested.
 */
export function returnPreferenceOf(prefer: string | undefined): ReturnPreference {
  const [, asked] = /(?:^|[\s,;])return=(minimal|representation|OperationOutcome)(?:$|[\s,;])/.exec(prefer ?? '') ?? [];
  return (asked as ReturnPreference | undefined) ?? 'minimal';
}
