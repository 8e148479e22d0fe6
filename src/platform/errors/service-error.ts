import { ERROR_CODES, type ErrorCode, type KindedCode } from './error-codes';
import { type ErrorKind } from './error-kind';

/** One of several faults of a request. `code` is a code of http://hl7.org/fhir/R4/valueset-issue-type.html. */
export interface ErrorIssue {
  readonly severity: 'error' | 'warning' | 'information';
  readonly code: string;
  /** The code of docs/reference/errors.md. Default: the code of the whole error. */
  readonly errorCode?: ErrorCode;
  /** A text that says what is wrong, and what to do. */
  readonly diagnostics: string;
  /** The FHIRPath of the element that is wrong, with indexes. */
  readonly expression: string;
}

/** Parts of an error response in addition to its message. */
export interface ErrorDetails {
  /** The code of docs/reference/errors.md. Default: the kind of the error. */
  readonly code?: ErrorCode;
  /** The list of all faults, if the message summarizes several. */
  readonly issues?: readonly ErrorIssue[];
  /** The FHIRPath of the element that is wrong, for OperationOutcome.issue.expression. */
  readonly expression?: string;
  /** Methods that the route accepts, for the header `Allow`. */
  readonly allow?: readonly string[];
  /** Media types that a PATCH may have, for the header `Accept-Patch` (RFC 5789, section 3.1). */
  readonly acceptPatch?: readonly string[];
  readonly retryAfterSeconds?: number;
  /** Whether a token was sent and refused, for the header `WWW-Authenticate` (RFC 6750, section 3.1). */
  readonly isInvalidToken?: boolean;
  /** A text for the log of the operator. It is never sent to the caller. */
  readonly operatorDetail?: string;
}

/**
 * An error that is returned to the caller. `message` is sent to the caller, so it says what to do and never contains
 * secrets or patient data.
 * @example
 * throw new ServiceError('conflict', 'The ward is full. Choose another one.');
 */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;

  /** @param code of docs/reference/errors.md, which decides the kind; each kind is a code too */
  constructor(code: KindedCode, message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(message, options);
    this.kind = ERROR_CODES.get(code) ?? 'invalid';
    this.details = code === this.kind ? details : { code, ...details };
  }
}

/** Returns the code of an error in docs/reference/errors.md. */
export const errorCodeOf = ({ kind, details }: ServiceError): ErrorCode => details.code ?? kind;
