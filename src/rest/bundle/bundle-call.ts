/** The sender of a Bundle, and the form that the sender requests for the answer. */
export interface BundleCall {
  /** The root to which the Bundle was sent, and on which its entries are processed: `/fhir` or the empty text. */
  readonly root: string;
  /** URL of the root. The `location` of each written resource begins with it. */
  readonly rootUrl: string;
  readonly authorization: string | undefined;
  readonly prefer: string | undefined;
  /**
   * Whether the sender is the server itself, for the Bundle that it processes at start. No policy limits the server.
   */
  readonly isSystem: boolean;
}
