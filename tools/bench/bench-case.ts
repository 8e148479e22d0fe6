/** One request of a case; the path begins below the FHIR base of the server. */
export interface BenchRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: string;
}

/** An operation that is measured by repeating it. */
export interface BenchCase {
  readonly name: string;
  readonly expectedStatus: number;
  readonly operations: number;
  /** The number of resources that one request writes, if more than one. */
  readonly resources?: number;
  /** The request number `n` of a round. */
  readonly requestOf: (n: number) => BenchRequest;
}

/** A server as the load generator sees it. */
export interface Target {
  readonly name: string;
  /** The FHIR base, without a trailing slash. */
  readonly baseUrl: string;
  readonly authorization: string;
}
