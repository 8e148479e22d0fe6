/** Who sends a Bundle, and how the answer shall look. */
export interface BundleCall {
  /** `/fhir` or the empty text: entries are answered on the root that the Bundle was sent to. */
  readonly root: string;
  /** What locations begin with. */
  readonly rootUrl: string;
  readonly authorization: string | undefined;
  readonly prefer: string | undefined;
  /** The server itself, which no policy limits: for the Bundle of the first start. */
  readonly isSystem: boolean;
}

export type ReturnPreference = 'minimal' | 'representation' | 'OperationOutcome';

/** `Prefer: return=…` (http://hl7.org/fhir/R4/http.html#ops); a Bundle is answered without bodies unless they are asked for. */
export function returnPreferenceOf(prefer: string | undefined): ReturnPreference {
  const [, asked] = /(?:^|[\s,;])return=(minimal|representation|OperationOutcome)(?:$|[\s,;])/.exec(prefer ?? '') ?? [];
  return (asked as ReturnPreference | undefined) ?? 'minimal';
}
