/** Kinds of domain errors. FHIR, RPC and OAuth each have one table that maps them to responses. */
export type ErrorKind =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'not-allowed'
  | 'not-acceptable'
  /** Another write, or a rule, does not allow the request. */
  | 'conflict'
  /** A unique value is already in use. */
  | 'duplicate'
  | 'gone'
  | 'precondition-failed'
  | 'multiple-matches'
  /** The body of the request arrives too slowly. */
  | 'too-slow'
  | 'too-large'
  | 'unsupported-media-type'
  | 'unprocessable'
  | 'throttled'
  | 'busy'
  | 'timeout';
