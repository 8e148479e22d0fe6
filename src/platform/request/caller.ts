/** The caller of a request, identified by the Authorization header. */
export interface Caller {
  /** Id of the User for whom the client acts; absent for HTTP Basic and client credentials. */
  readonly userId?: string;
  readonly clientId: string;
  /** Id of the Session of the bearer token; absent for HTTP Basic. */
  readonly sessionId?: string;
}
