/** Kinds of errors of the domain. Each edge (FHIR, RPC, OAuth) maps them to its answers in one table. */
export type ErrorKind =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'not-allowed'
  | 'not-acceptable'
  /** Another writer or a rule stands against it. */
  | 'conflict'
  /** A value that must be unique is taken. */
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
