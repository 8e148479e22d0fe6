/** The caller, identified by the Authorization header. */
export interface Caller {
  /** The User for whom the client acts; absent for HTTP Basic and client credentials. */
  readonly userId?: string;
  readonly clientId: string;
  /** The Session of the bearer token; absent for HTTP Basic. */
  readonly sessionId?: string;
}
