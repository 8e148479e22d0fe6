import { type ErrorCode } from './error-codes';
import { type ErrorKind } from './error-kind';

/** One of several faults of a request; `code` is a word of http://hl7.org/fhir/R4/valueset-issue-type.html. */
export interface ErrorIssue {
  readonly severity: 'error' | 'warning' | 'information';
  readonly code: string;
  /** The code in the catalogue. Default: that of the error. */
  readonly errorCode?: ErrorCode;
  /** The fault and the remedy. */
  readonly diagnostics: string;
  /** FHIRPath of the faulty element, with indexes. */
  readonly expression: string;
}

/** Parts of a response in addition to the message. */
export interface ErrorDetails {
  /** The code in the catalogue of docs/reference/errors.md. Default: the kind. */
  readonly code?: ErrorCode;
  /** All faults, if the message summarizes several. */
  readonly issues?: readonly ErrorIssue[];
  /** FHIRPath of the faulty element, for OperationOutcome.issue.expression. */
  readonly expression?: string;
  /** Methods that the route supports, for `Allow`. */
  readonly allow?: readonly string[];
  /** Media types that a PATCH may have, for `Accept-Patch` (RFC 5789, section 3.1). */
  readonly acceptPatch?: readonly string[];
  readonly retryAfterSeconds?: number;
  /** Whether a token was sent and refused, for `WWW-Authenticate` (RFC 6750, section 3.1). */
  readonly isInvalidToken?: boolean;
  /** Only for the operator's log; never sent to the caller. */
  readonly operatorDetail?: string;
}

/**
 * A refusal or failure that is returned to the caller. `message` is sent to the caller, so it says what to do and never
 * repeats secrets or patient data.
 * @example
 * throw new ServiceError('conflict', 'The ward is full. Choose another one.');
 */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';

  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly details: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The code in the catalogue. */
export const errorCodeOf = ({ kind, details }: ServiceError): ErrorCode => details.code ?? kind;
