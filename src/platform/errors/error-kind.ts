/** Kinds of domain errors. FHIR, RPC and OAuth each map them to their responses in one table. */
export type ErrorKind =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'not-allowed'
  | 'not-acceptable'
  /** Another write or a rule forbids it. */
  | 'conflict'
  /** A unique value is already in use. */
  | 'duplicate'
  | 'gone'
  | 'precondition-failed'
  | 'multiple-matches'
  /** A body that stalls. */
  | 'too-slow'
  | 'too-large'
  | 'unsupported-media-type'
  | 'unprocessable'
  | 'throttled'
  | 'busy'
  | 'timeout';
